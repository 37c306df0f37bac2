// The field of a control with a list of values. For one value it is the browser's own list, for several values a picker.

import { html, icon } from "../dom.js";
import { pickerField } from "./picker.js";

/**
 * @param {any} control
 * @param {import("./index.js").Place} place
 * @returns {import("./index.js").Field}
 */
export function choicesField(control, place) {
  return control.many ? severalField(control, place) : oneField(control, place);
}

function oneField(control, { value, change, id }) {
  const select = html("select", { id, change: () => change(select.value) });
  let choices = control.choices ?? [];

  function show() {
    const now = value();
    const missing = now && !choices.some((choice) => choice.value === now) ? [{ value: now, label: String(now) }] : [];
    const none = control.default === null || control.clearable ? [{ value: "", label: control.required ? "Choose…" : "All" }] : [];
    select.replaceChildren(...[...none, ...missing, ...choices].map((choice) => html("option", { value: choice.value }, choice.label)));
    select.value = now ?? "";
  }

  return { element: html("span", { class: "select" }, select, icon("down")), show, fill: (values) => ((choices = values ?? []), show()), text: (one) => labelOf(choices, one) };
}

function severalField(control, place) {
  let choices = control.choices ?? [];
  let missing = control.choices ? null : "They have not come yet";
  const chosen = () => [place.value() ?? []].flat().filter((one) => one !== "");
  const text = (now) => (now.length === 0 ? "All" : now.length === 1 ? labelOf(choices, now[0]) : `${now.length} chosen`);
  const field = pickerField(control, place, () => text(chosen()), { chosen, offered: () => ({ choices, missing }) });

  function fill(values) {
    choices = values ?? [];
    missing = values ? null : "These values could not be loaded";
    field.show();
  }

  return { ...field, fill, text: (one) => labelOf(choices, one) };
}

function labelOf(choices, value) {
  return choices.find((choice) => choice.value === value)?.label ?? String(value);
}
