// An element that opens below a button. It closes by Escape, by a click elsewhere, or when the focus leaves it.

import { bringIntoView, needsRoom } from "./room.js";

const MARGIN = 4;

/**
 * @param {HTMLElement} button
 * @param {HTMLElement} content next to the button, in the same positioned parent
 * @param {{ask?: () => void, opened?: () => void}} [on] `ask`: called at a click instead of opening the content at once
 * @returns {{open: () => void, close: (focus?: boolean) => void}}
 */
export function popover(button, content, on = {}) {
  content.hidden = true;
  content.classList.add("popover");
  needsRoom(content);
  button.setAttribute("aria-expanded", "false");
  const outside = (event) => !content.contains(event.target) && !button.contains(event.target) && close(false);
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close(true);
  };
  const left = (event) => event.relatedTarget && !content.contains(event.relatedTarget) && event.relatedTarget !== button && close(false);

  function open() {
    content.hidden = false;
    button.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", outside, true);
    content.addEventListener("keydown", escape);
    button.addEventListener("keydown", escape);
    content.addEventListener("focusout", left);
    on.opened?.();
    keepInside(content);
    bringIntoView(content);
  }

  function close(focus = true) {
    if (content.hidden) return;
    content.hidden = true;
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside, true);
    content.removeEventListener("keydown", escape);
    button.removeEventListener("keydown", escape);
    content.removeEventListener("focusout", left);
    if (focus) button.focus();
  }

  button.addEventListener("click", () => (content.hidden ? (on.ask ?? open)() : close(false)));
  return { open, close };
}

/** Moves the element so that it does not leave the page. */
function keepInside(content) {
  content.style.translate = "";
  const { left, right } = content.getBoundingClientRect();
  const over = Math.min(0, document.documentElement.clientWidth - MARGIN - right);
  content.style.translate = `${Math.max(MARGIN - left, over)}px`;
}
