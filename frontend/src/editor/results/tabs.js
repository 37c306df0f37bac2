// Tabs for mouse and arrow keys.

import { freshId, html } from "../../dashboards/dom.js";

/**
 * @param {string} label
 * @param {Record<string, {element: HTMLElement, shown?: () => void}>} parts the parts by the titles of their tabs
 */
export function tabs(label, parts) {
  const names = Object.keys(parts);
  const ids = names.map(() => freshId("tab"));
  const buttons = names.map((name, place) => html("button", { type: "button", role: "tab", id: ids[place], class: "result-tab", "aria-controls": `${ids[place]}-panel`, click: () => select(name) }, name));
  const panels = names.map((name, place) => html("div", { role: "tabpanel", id: `${ids[place]}-panel`, class: "result-panel", "aria-labelledby": ids[place] }, parts[name].element));
  const list = html("div", { class: "result-tabs", role: "tablist", "aria-label": label, keydown: move }, ...buttons);
  const found = { list, panels, selected: "", select };

  function select(name) {
    found.selected = name;
    names.forEach((each, place) => {
      buttons[place].setAttribute("aria-selected", String(each === name));
      buttons[place].tabIndex = each === name ? 0 : -1;
      panels[place].hidden = each !== name;
    });
    parts[name].shown?.();
  }

  function move(event) {
    const at = buttons.indexOf(document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const button = buttons.at(next % buttons.length);
    select(button.textContent);
    button.focus();
  }

  select(names[0]);
  return found;
}
