// A range of days: presets beside two dates. No form: in a sandboxed frame without allow-forms it would send nothing, not
// even the event.

import { freshId, html, icon } from "../dom.js";
import { popover } from "../popover.js";
import { presetLabel, rangeLabel } from "./presets.js";

/**
 * @param {any} control
 * @param {import("./index.js").Place} place
 * @returns {import("./index.js").Field}
 */
export function rangeField(control, { value, change, formats, id }) {
  const label = html("span", { class: "choice-text" });
  const content = freshId("range");
  const button = html("button", { type: "button", class: "choice", id, "aria-labelledby": `${id}-label ${id}`, "aria-controls": content, "aria-haspopup": "dialog" }, label, icon("down"));
  const from = html("input", { type: "date", "aria-label": "From", min: control.min, max: control.max });
  const to = html("input", { type: "date", "aria-label": "To", min: control.min, max: control.max });
  const problem = html("p", { class: "problem", role: "alert", hidden: true });
  const presets = control.presets.map((name) => html("button", { type: "button", class: "preset", "data-preset": name, click: () => taken({ preset: name }) }, presetLabel(name)));
  const dates = html("div", { class: "dates", keydown: (event) => byEnter(event) }, html("label", {}, "From", from), html("label", {}, "To", to), problem, html("button", { type: "button", class: "button", click: () => apply() }, "Apply"));
  const panel = html("div", { id: content, class: "range-panel", role: "dialog", "aria-label": control.label }, presets.length ? html("div", { class: "presets" }, ...presets) : null, dates);
  const { close } = popover(button, panel, { opened: () => (presets[0] ?? from).focus({ preventScroll: true }) });

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
    const refused = [from, to].find((input) => !input.validity.valid); // outside of min and max, or no day at all
    const order = from.value && to.value && from.value > to.value ? "The first day is after the last day." : "";
    const wrong = refused?.validationMessage || missing(from.value, to.value, control.open) || order;
    problem.hidden = !wrong;
    problem.textContent = wrong;
    if (!wrong) taken({ start: from.value || null, end: to.value || null });
  }

  function show() {
    const now = value();
    label.textContent = rangeLabel(now, formats);
    from.value = now?.start ?? "";
    to.value = now?.end ?? "";
    for (const preset of presets) preset.setAttribute("aria-pressed", String(preset.dataset.preset === now?.preset));
  }

  return { element: html("div", { class: "holder" }, button, panel), show };
}

/** What a range cannot do without: one day at least, and both where neither end is open. */
function missing(from, to, open) {
  if ((from || open.includes("start")) && (to || open.includes("end")) && (from || to)) return "";
  if (!open.length) return "Choose both days.";
  return from || to ? `Choose the ${from ? "last" : "first"} day too.` : "Choose a day.";
}
