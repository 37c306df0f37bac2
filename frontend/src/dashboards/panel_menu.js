// The menu of a panel: show it as a table, save it as CSV or a picture, show its query.

import { freshId, html, icon } from "./dom.js";
import { popover } from "./popover.js";

/**
 * @param {string} title the title of the panel
 * @param {() => {label: string, run: () => void}[]} items called whenever the menu opens
 * @returns {HTMLElement}
 */
export function menuOf(title, items) {
  const id = freshId("menu");
  const list = html("div", { id, class: "menu", role: "menu", "aria-label": `Menu of ${title}` });
  const button = html("button", { type: "button", class: "icon-button", "aria-haspopup": "menu", "aria-controls": id, "aria-label": `Menu of ${title}` }, icon("menu"));
  const { open, close } = popover(button, list, { opened: () => fill() });

  function fill() {
    const entries = items().map(({ label, run }) =>
      html("button", { type: "button", role: "menuitem", tabindex: "-1", class: "menu-item", click: () => (close(), run()) }, label),
    );
    list.replaceChildren(...entries);
    entries[0]?.focus({ preventScroll: true });
  }

  list.addEventListener("keydown", (event) => move(event, [...list.children]));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" || !list.hidden) return;
    event.preventDefault();
    open();
  });
  return html("div", { class: "menu-holder" }, button, list);
}

function move(event, entries) {
  const at = entries.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  entries.at(next % entries.length)?.focus();
}
