// A list to choose several values from, with a search field if it is long.

import { html } from "../dom.js";

const SEARCHED = 8;
const SHOWN = 200;

/**
 * @param {HTMLElement} content the element that it fills
 * @param {any} control
 * @param {import("./index.js").Place & {chosen: () => string[], offered: () => {choices: {value: string, label: string}[], missing: string | null}}} place
 *   `missing`: why there are no choices
 * @returns {import("./picker.js").Picker}
 */
export function choicesPicker(content, control, { change, chosen, offered }) {
  const search = html("input", { type: "search", class: "search", placeholder: "Search", "aria-label": `Search ${control.label}`, input: () => list() });
  const options = html("div", { class: "options", role: "group", "aria-label": control.label });
  const none = html("button", { type: "button", class: "link", click: () => change([]) }, "Clear");
  let listed = null;
  content.replaceChildren(search, options, html("div", { class: "panel-actions" }, none));

  function opened() {
    search.value = "";
    search.hidden = offered().choices.length <= SEARCHED;
    list();
    (search.hidden ? options.querySelector("input") : search)?.focus({ preventScroll: true });
  }

  function list() {
    const { choices, missing } = offered();
    const wanted = search.value.trim().toLowerCase();
    const now = new Set(chosen());
    const found = choices.filter((choice) => choice.label.toLowerCase().includes(wanted));
    const rest = found.length > SHOWN ? html("p", { class: "count" }, `${found.length - SHOWN} more: search for them`) : null;
    const nothing = found.length ? null : html("p", { class: "count" }, missing ?? "Nothing is called so");
    listed = choices;
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
    const { length } = chosen();
    none.hidden = !length;
    if (!content.hidden && (!length || listed !== offered().choices)) list();
  }

  return { show, opened };
}
