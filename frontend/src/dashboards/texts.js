// Headings and paragraphs.

import { html } from "./dom.js";

/** Splits a text into paragraphs at blank lines. */
export function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).map((part) => html("p", {}, part.replace(/\s*\n\s*/g, " ")));
}
