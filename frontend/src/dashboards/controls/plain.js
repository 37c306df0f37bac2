// The fields for text, numbers and days, which are the browser's own.

import { html, settled } from "../dom.js";

const TYPES = { text: "search", number: "number", date: "date" };
const PAUSE = 400;

/**
 * @param {any} control
 * @param {import("./index.js").Place} place
 * @returns {import("./index.js").Field}
 */
export function plainField(control, { value, change, id }) {
  const later = settled(() => input.validity.valid && change(input.value), PAUSE);
  const input = html("input", {
    id,
    class: `field-${control.kind}`,
    type: TYPES[control.kind] ?? "search",
    min: control.min,
    max: control.max,
    step: control.kind === "number" ? "any" : null,
    autocomplete: "off",
    input: later,
    change: () => input.validity.valid && change(input.value),
  });
  const show = () => {
    if (document.activeElement !== input) input.value = value() ?? "";
  };
  return { element: input, show };
}
