// A picker for a range of days: presets, and two dates. It is not a form, because in a sandboxed frame without allow-forms a form does not
// even send its submit event.

import { html } from "../dom.js";
import { presetLabel } from "./presets.js";

/**
 * @param {HTMLElement} content the element that it fills
 * @param {any} control
 * @param {import("./index.js").Place & {close: () => void}} place
 * @returns {import("./picker.js").Picker}
 */
export function rangePicker(content, control, { value, change, close }) {
  const from = html("input", { type: "date", "aria-label": "From", min: control.min, max: control.max });
  const to = html("input", { type: "date", "aria-label": "To", min: control.min, max: control.max });
  const problem = html("p", { class: "problem", role: "alert", hidden: true });
  const presets = control.presets.map((name) => html("button", { type: "button", class: "preset", "data-preset": name, click: () => taken({ preset: name }) }, presetLabel(name)));
  const dates = html("div", { class: "dates", keydown: (event) => byEnter(event) }, html("label", {}, "From", from), html("label", {}, "To", to), problem, html("button", { type: "button", class: "button", click: () => apply() }, "Apply"));
  content.replaceChildren(...(presets.length ? [html("div", { class: "presets" }, ...presets)] : []), dates);

  function taken(chosen) {
    close();
    change(chosen);
  }

  function byEnter(event) {
    if (event.key !== "Enter" || (event.target !== from && event.target !== to)) return;
    event.preventDefault();
    apply();
  }

  function apply() {
    const refused = [from, to].find((input) => !input.validity.valid); // before min, after max, or no date
    const order = from.value && to.value && from.value > to.value ? "The first day is after the last day." : "";
    const wrong = refused?.validationMessage || missing(from.value, to.value, control.open) || order;
    problem.hidden = !wrong;
    problem.textContent = wrong;
    if (!wrong) taken({ start: from.value || null, end: to.value || null });
  }

  function show() {
    const now = value();
    from.value = now?.start ?? "";
    to.value = now?.end ?? "";
    for (const preset of presets) preset.setAttribute("aria-pressed", String(preset.dataset.preset === now?.preset));
  }

  return { show, opened: () => (presets[0] ?? from).focus({ preventScroll: true }) };
}

/** Why a range is incomplete: it needs at least one day, and both days unless that end may be open. */
function missing(from, to, open) {
  if ((from || open.includes("start")) && (to || open.includes("end")) && (from || to)) return "";
  if (!open.length) return "Choose both days.";
  return from || to ? `Choose the ${from ? "last" : "first"} day too.` : "Choose a day.";
}
