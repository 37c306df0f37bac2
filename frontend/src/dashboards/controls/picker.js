// A button that shows the chosen value and opens a picker. The picker is a separate bundle, which is loaded once the page is idle. So it is
// there when the viewer needs it, even without a connection.

import { load } from "../chunks.js";
import { freshId, html, icon } from "../dom.js";
import { popover } from "../popover.js";

const BUNDLE = "pickers.js";
const NOT_LOADED = "This could not be loaded. Please try again.";
const whenIdle = globalThis.requestIdleCallback ?? setTimeout;

/**
 * @typedef {object} Picker the part that the button opens
 * @property {() => void} show shows the current value
 * @property {() => void} opened
 */

/**
 * @param {any} control
 * @param {import("./index.js").Place} place
 * @param {() => string} text the current value in words
 * @param {Record<string, any>} [more] further arguments for the bundle
 * @returns {import("./index.js").Field}
 */
export function pickerField(control, place, text, more) {
  const { id } = place;
  const label = html("span", { class: "choice-text" });
  const content = html("div", { id: freshId("picker"), class: `${control.kind}-panel`, role: "dialog", "aria-label": control.label });
  const button = html("button", { type: "button", class: "choice", id, "aria-labelledby": `${id}-label ${id}`, "aria-controls": content.id, "aria-haspopup": "dialog" }, label, icon("down"));
  const { open, close } = popover(button, content, { ask, opened: () => inner?.opened() });
  /** @type {Picker | null} */
  let inner = null;
  whenIdle(() => load(BUNDLE).catch(() => {}), { timeout: 2000 });

  async function ask() {
    const { activeElement } = document;
    inner ??= await load(BUNDLE).then(({ make }) => make[control.kind](content, control, { ...place, ...more, close }), () => null);
    if (document.activeElement !== activeElement) return; // the viewer has moved the focus meanwhile
    if (inner) inner.show();
    else content.replaceChildren(html("p", { class: "count", role: "alert" }, NOT_LOADED));
    open();
  }

  function show() {
    label.textContent = text();
    inner?.show();
  }

  return { element: html("div", { class: "holder" }, button, content), show };
}
