// The bundle for the entries of a panel's menu: shows texts, saves files, and has the table of a chart.

import { html, icon } from "./dom.js";
import { bringIntoView, needsRoom } from "./room.js";

export { picture } from "./charts/png.js";
export { chartTwin } from "./chart_twin.js";

/** Shows a text in a dialog, where it can be copied. */
export function showText(title, text) {
  const close = () => dialog.close();
  const dialog = html(
    "dialog",
    { class: "dialog", "aria-label": title, close: () => dialog.remove() },
    html("div", { class: "dialog-head" }, html("h2", {}, title), html("button", { type: "button", class: "icon-button", "aria-label": "Close", click: close }, icon("close"))),
    html("pre", { tabindex: "0" }, text),
  );
  dialog.style.marginTop = `${document.activeElement.getBoundingClientRect().top + scrollY}px`; // in a tall frame, the middle is out of sight
  document.body.append(dialog);
  needsRoom(dialog);
  dialog.showModal();
  bringIntoView(dialog);
}

/** Saves data that the page already has as a file. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
