// The bundle of what entries of a panel's menu show or save.

import { html, icon } from "./dom.js";
import { bringIntoView, needsRoom } from "./room.js";

export { picture } from "./charts/png.js";
export { chartTwin } from "./chart_twin.js";

/** Shows a text that can be copied. */
export function showText(title, text) {
  const close = () => dialog.close();
  const dialog = html(
    "dialog",
    { class: "dialog", "aria-label": title, close: () => dialog.remove() },
    html("div", { class: "dialog-head" }, html("h2", {}, title), html("button", { type: "button", class: "icon-button", "aria-label": "Close", click: close }, icon("close"))),
    html("pre", { tabindex: "0" }, text),
  );
  dialog.style.marginTop = `${document.activeElement.getBoundingClientRect().top + scrollY}px`; // the middle of a tall frame is out of sight
  document.body.append(dialog);
  needsRoom(dialog);
  dialog.showModal();
  bringIntoView(dialog);
}

/** Saves what the page has already. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
