// A range of days: presets beside two dates.

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
  const dates = html("form", { class: "dates", submit: (event) => apply(event) }, html("label", {}, "From", from), html("label", {}, "To", to), problem, html("button", { type: "submit", class: "button" }, "Apply"));
  const panel = html("div", { id: content, class: "range-panel", role: "dialog", "aria-label": control.label }, presets.length ? html("div", { class: "presets" }, ...presets) : null, dates);
  const { close } = popover(button, panel, { opened: () => (presets[0] ?? from).focus() });

  function taken(chosen) {
    close();
    change(chosen);
  }

  function apply(event) {
    event.preventDefault();
    const wrong = missing(from.value, to.value, control.open) || (from.value && to.value && from.value > to.value ? "The first day is after the last day." : "");
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
