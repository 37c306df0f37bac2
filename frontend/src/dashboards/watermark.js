// The watermark over a preview. It shows that this is not a customer's visit, also in screenshots and on paper.

import { html } from "./dom.js";

const MARKS = 60;

/**
 * @param {{id: string, name: string, environment: string}} [preview] the group of the preview; undefined if this is no preview
 * @returns {HTMLElement[]}
 */
export function watermark(preview) {
  if (!preview || preview.editor) return []; // the editor shows this around the frame
  const words = `Preview as ${preview.name}`;
  const marks = Array.from({ length: MARKS }, () => html("span", { "data-words": words }));
  const note = html("p", { class: "preview-note", role: "note" }, `${words} (${preview.id}, ${preview.environment}). It is recorded, and ends ten minutes after it was opened.`);
  return [note, html("div", { class: "watermark", "aria-hidden": "true" }, ...marks)];
}
