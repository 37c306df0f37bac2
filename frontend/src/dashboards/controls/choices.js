// One of some values, by the browser's own list; or several of them, with a search.

import { freshId, html, icon } from "../dom.js";
import { popover } from "../popover.js";

const SEARCHED = 8;
const SHOWN = 200;

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

function severalField(control, { value, change, id }) {
  const label = html("span", { class: "choice-text" });
  const content = freshId("choices");
  const button = html("button", { type: "button", class: "choice", id, "aria-labelledby": `${id}-label ${id}`, "aria-controls": content, "aria-haspopup": "dialog" }, label, icon("down"));
  const search = html("input", { type: "search", class: "search", placeholder: "Search", "aria-label": `Search ${control.label}`, input: () => list() });
  const options = html("div", { class: "options", role: "group", "aria-label": control.label });
  const none = html("button", { type: "button", class: "link", click: () => change([]) }, "Clear");
  const panel = html("div", { id: content, class: "choices-panel", role: "dialog", "aria-label": control.label }, search, options, html("div", { class: "panel-actions" }, none));
  popover(button, panel, { opened: () => opened() });
  let choices = control.choices ?? [];
  let missing = control.choices ? null : "They have not come yet";

  const chosen = () => [value() ?? []].flat().filter((one) => one !== "");

  function opened() {
    search.value = "";
    search.hidden = choices.length <= SEARCHED;
    list();
    (search.hidden ? options.querySelector("input") : search)?.focus({ preventScroll: true });
  }

  function list() {
    const wanted = search.value.trim().toLowerCase();
    const now = new Set(chosen());
    const found = choices.filter((choice) => choice.label.toLowerCase().includes(wanted));
    const rest = found.length > SHOWN ? html("p", { class: "count" }, `${found.length - SHOWN} more: search for them`) : null;
    const nothing = found.length ? null : html("p", { class: "count" }, missing ?? "Nothing is called so");
    options.replaceChildren(...[...found.slice(0, SHOWN).map((choice) => option(choice, now)), rest, nothing].filter(Boolean));
  }

  function option({ value: one, label: text }, now) {
    const box = html("input", { type: "checkbox", change: () => toggle(one, box.checked) });
    box.checked = now.has(one);
    return html("label", { class: "option" }, box, html("span", {}, text));
  }

  function toggle(one, on) {
    const now = chosen().filter((each) => each !== one);
    change(on ? [...now, one] : now);
  }

  function show() {
    const now = chosen();
    label.textContent = now.length === 0 ? "All" : now.length === 1 ? labelOf(choices, now[0]) : `${now.length} chosen`;
    none.hidden = !now.length;
    const set = new Set(now);
    if (!panel.hidden && !set.size) list();
  }

  function fill(values) {
    choices = values ?? [];
    missing = values ? null : "These values could not be loaded";
    if (!panel.hidden) list();
    show();
  }

  return { element: html("div", { class: "holder" }, button, panel), show, fill, text: (one) => labelOf(choices, one) };
}

function labelOf(choices, value) {
  return choices.find((choice) => choice.value === value)?.label ?? String(value);
}
