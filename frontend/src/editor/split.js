// The line between the text and the result, which can be moved by mouse and by arrow keys.

import { html } from "../dashboards/dom.js";

const [LEAST, MOST, STEP] = [15, 85, 5];

/**
 * @param {HTMLElement} host whose custom property --split is the share of the text in percent
 * @param {import("./keeper.js").Keeper} keeper
 * @returns {HTMLElement}
 */
export function splitLine(host, keeper) {
  const line = html("div", { class: "split-line", role: "separator", tabindex: "0", "aria-orientation": "horizontal", "aria-label": "Height of the text", "aria-valuemin": LEAST, "aria-valuemax": MOST, keydown: step, pointerdown: grab });
  let share;

  function put(value) {
    share = Math.round(Math.min(MOST, Math.max(LEAST, value)));
    host.style.setProperty("--split", `${share}%`);
    line.setAttribute("aria-valuenow", share);
  }

  function step({ key }) {
    const by = { ArrowUp: -STEP, ArrowDown: STEP }[key];
    if (by) keep(share + by);
  }

  function keep(value) {
    put(value);
    keeper.put("split", share);
  }

  function grab(event) {
    line.setPointerCapture(event.pointerId);
    const { top, height } = host.getBoundingClientRect();
    const move = ({ clientY }) => put(((clientY - top) / height) * 100);
    line.addEventListener("pointermove", move);
    line.addEventListener("lostpointercapture", () => (line.removeEventListener("pointermove", move), keep(share)), { once: true });
  }

  put(keeper.get("split") ?? 40);
  return line;
}
