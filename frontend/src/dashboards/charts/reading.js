// Lets viewers read a chart. Mouse, touch and keyboard show the same tooltip, which a live region announces. Also handles clicks, and
// zooming by dragging.

import { html, svg } from "../dom.js";
import { bringIntoView, needsRoom } from "../room.js";

const NEAR = 28;
const DRAG = 6;
/** Maximum lines of a tooltip. */
const MOST = 14;
const several = (arrow) => `Several series are here. ${arrow} arrow reads each; Enter takes it.`;

/**
 * @typedef {object} Actions
 * @property {(text: string) => void} announce
 * @property {(text: string) => void} say announces a text and also writes it below the chart
 * @property {((rows: number[]) => string | undefined) | null} choose handles a click on a mark of these rows; returns a sentence for the
 *   viewer if the click does nothing
 * @property {((from: number, to: number) => void) | null} zoom
 */

export class Reading {
  #active = null;
  /** The number of the part of the active stop that is read, or null for all parts. */
  #part = null;
  #drag = null;
  #from = null;

  /**
   * @param {HTMLElement} host the focusable element around the drawing
   * @param {import("./index.js").Chart} chart
   * @param {Actions} actions
   */
  constructor(host, chart, actions) {
    this.host = host;
    this.chart = chart;
    this.actions = actions;
    this.tip = html("div", { class: "tip", hidden: true });
    this.overlay = svg("g", { class: "overlay" });
    chart.svg.append(this.overlay);
    host.append(this.tip);
    this.#leaves = needsRoom(this.tip);
    this.#listen();
  }

  #listen() {
    this.#ended = new AbortController();
    const { signal } = this.#ended;
    const on = (node, event, run) => node.addEventListener(event, run, { signal });
    on(this.chart.svg, "pointermove", (event) => this.#move(event));
    on(this.chart.svg, "pointerdown", (event) => this.#down(event));
    on(this.chart.svg, "pointerup", (event) => this.#up(event));
    on(this.chart.svg, "pointercancel", () => this.#cancel());
    on(this.chart.svg, "pointerleave", (event) => event.pointerType !== "touch" && !this.#drag && this.#show(null));
    on(this.host, "keydown", (event) => this.#key(event));
    on(this.host, "blur", () => this.#cancel());
  }

  #ended;
  #leaves;

  /** Removes all traces of this drawing. Call it before another drawing replaces this one. */
  end() {
    this.#ended.abort();
    this.tip.remove();
    this.#leaves();
  }

  #place(event) {
    const box = this.chart.svg.getBoundingClientRect();
    const scale = this.chart.svg.viewBox.baseVal.width / (box.width || 1);
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  }

  #move(event) {
    const place = this.#place(event);
    if (this.#drag) this.#drawDrag(this.#drag.x, place.x);
    else if (event.pointerType !== "touch") this.#show(...this.#under(place, event.target));
  }

  #down(event) {
    const place = this.#place(event);
    if (event.pointerType === "touch") return;
    if (this.chart.zoom && this.actions.zoom && event.button === 0) {
      this.#drag = place;
      this.chart.svg.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.host.focus({ preventScroll: true });
    }
  }

  #up(event) {
    const place = this.#place(event);
    const dragged = this.#drag && Math.abs(place.x - this.#drag.x) > DRAG ? this.#drag : null;
    this.#drag = null;
    this.overlay.querySelector(".range")?.remove();
    if (dragged) return this.#zoom(dragged.x, place.x);
    const [stop, part] = this.#under(place, event.target);
    const again = stop === this.#active && part === this.#part;
    this.#show(stop, part);
    if (stop && (event.pointerType !== "touch" || again)) this.#choose();
  }

  #cancel() {
    this.#drag = null;
    this.#from = null;
    this.#show(null);
  }

  #zoom(start, end) {
    const { left, width } = this.chart.plot;
    const [from, to] = [start, end].sort((a, b) => a - b).map((x) => this.chart.zoom(Math.min(Math.max(x, left), left + width)));
    this.#show(null);
    this.actions.zoom(from, to);
  }

  #drawDrag(start, end) {
    const { top, height } = this.chart.plot;
    this.overlay.querySelector(".range")?.remove();
    this.overlay.prepend(svg("rect", { class: "range", x: Math.min(start, end), y: top, width: Math.abs(end - start), height }));
  }

  /** The stop at the pointer, and the number of the part that a click selects. */
  #under(place, target) {
    const stop = this.#nearest(place, target);
    if (!stop || stop.parts.length < 2 || !this.actions.choose) return [stop, null];
    const part = stop.parts.find(({ marks }) => marks.includes(target)) ?? closest(stop.parts, ({ box }) => (box ? distance(box, place) : Infinity), Infinity);
    return [stop, part && stop.parts.indexOf(part)];
  }

  #nearest(place, target) {
    const { stops, nearest } = this.chart;
    const hit = stops.find(({ parts }) => parts.some(({ marks }) => marks.includes(target)));
    if (hit) return hit;
    if (nearest === "point") return this.chart.cell ? null : closest(stops, (stop) => Math.hypot(stop.x - place.x, stop.y - place.y), NEAR);
    if (this.chart.beside) return null;
    return closest(stops, (stop) => (this.chart.lying ? Math.abs(stop.y - place.y) : Math.abs(stop.x - place.x)), Infinity);
  }

  #key(event) {
    if (event.target !== this.host) return;
    const { stops } = this.chart;
    const at = stops.indexOf(this.#active);
    const across = this.#across()[event.key];
    if (across && this.#active) {
      event.preventDefault();
      return this.#stepAcross(across);
    }
    const line = this.chart.cell ? (way) => this.#beside(way) : (way) => at + way;
    const next = { ArrowRight: at + 1, ArrowDown: line(1), ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(line(-1), 0), Home: 0, End: stops.length - 1 }[event.key];
    if (next !== undefined && stops.length) {
      event.preventDefault();
      this.#step(stops[Math.min(next, stops.length - 1)], event.shiftKey);
    } else if (event.key === "Enter" && this.#from && this.#active) {
      this.#zoom(this.#from.x, this.#active.x);
      this.#from = null;
    } else if ((event.key === "Enter" || event.key === " ") && this.#active) {
      event.preventDefault();
      this.#choose();
    } else if (event.key === "Escape") this.#cancel();
  }

  #step(stop, extend) {
    this.overlay.querySelector(".range")?.remove();
    this.#from = extend && this.chart.zoom ? (this.#from ?? this.#active ?? stop) : null;
    const key = this.#active?.parts[this.#part]?.key;
    const same = stop.parts.findIndex((part) => part.key === key);
    this.#show(stop, key === undefined || same < 0 ? null : same, true);
    if (this.#from) this.#drawDrag(this.#from.x, stop.x);
  }

  /** The keys that move between the series of a stop, if stops have several series. */
  #across() {
    if (!this.chart.stops.some(({ parts }) => parts.length > 1)) return {};
    return this.chart.lying ? { ArrowLeft: -1, ArrowRight: 1 } : { ArrowUp: -1, ArrowDown: 1 };
  }

  /** The step before the first series selects all series together. */
  #stepAcross(way) {
    const next = (this.#part ?? -1) + way;
    this.#show(this.#active, next < 0 ? null : Math.min(next, this.#active.parts.length - 1), true);
  }

  /** The number of the stop in the line above or below. */
  #beside(way) {
    const { stops } = this.chart;
    if (!this.#active) return 0;
    const { line, column } = this.#active;
    const found = stops.findIndex((stop) => stop.line === line + way && stop.column >= column);
    return found < 0 ? stops.indexOf(this.#active) : found;
  }

  /** The selected part of the active stop, or all its parts. */
  get #read() {
    const parts = this.#active?.parts ?? [];
    return this.#part === null ? parts : [parts[this.#part]];
  }

  #choose() {
    const rows = this.#read.flatMap((part) => part.rows);
    const problem = this.actions.choose && rows.length && this.actions.choose(rows);
    if (problem) this.actions.say(this.#read.length > 1 ? several(this.chart.lying ? "Right" : "Down") : problem);
  }

  #show(stop, part = null, speak = false) {
    if (stop === this.#active && part === this.#part) return;
    for (const { marks } of this.#read) for (const mark of marks) mark.classList.remove("active");
    [this.#active, this.#part] = [stop ?? null, part];
    const marks = this.#read.flatMap((each) => each.marks);
    this.chart.svg.classList.toggle("read", marks.length > 0);
    this.overlay.replaceChildren();
    this.tip.hidden = !stop;
    if (!stop) return;
    for (const mark of marks) mark.classList.add("active");
    this.#drawCross(stop);
    this.#fill(stop);
    if (!speak) return;
    bringIntoView(this.tip);
    const items = stop.items().filter((_, place) => part === null || place === part);
    this.actions.announce(`${stop.title()}: ${items.map(({ name, text }) => (name ? `${name} ${text}` : text)).join(", ")}`);
  }

  #drawCross(stop) {
    if (!stop.dots) return;
    const { top, height } = this.chart.plot;
    this.overlay.append(svg("line", { class: "cross", x1: stop.x, x2: stop.x, y1: top, y2: top + height }));
    stop.dots.forEach(({ y, color }, place) => {
      this.overlay.append(svg("circle", { class: `dot series-${color}`, cx: stop.x, cy: y, r: place === this.#part ? 6 : 4 }));
    });
  }

  #fill(stop) {
    const all = stop.items();
    const items = all.slice(0, MOST);
    const alone = items.length === 1 && !(stop.dots && this.chart.series.length > 1);
    const lines = items.map(({ name, text, color }, place) =>
      html(
        "div",
        { class: place === this.#part ? "tip-line here" : "tip-line" },
        color !== undefined && !alone && html("span", { class: `swatch series-${color}` }),
        name && !alone && html("span", { class: "tip-name" }, name),
        html("span", { class: "tip-text" }, text),
      ),
    );
    this.tip.replaceChildren(html("div", { class: "tip-title" }, stop.title()), ...lines, all.length > MOST ? html("div", { class: "tip-title" }, `and ${all.length - MOST} more`) : "");
    this.#position(stop);
  }

  /** Moves the tooltip next to its stop, but keeps it within the panel. */
  #position(stop) {
    const drawing = this.chart.svg.getBoundingClientRect();
    const around = this.host.getBoundingClientRect();
    const scale = drawing.width / (this.chart.svg.viewBox.baseVal.width || 1);
    const x = drawing.left - around.left + stop.x * scale;
    const y = drawing.top - around.top + stop.y * scale;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const left = x + 14 + width > around.width ? x - 14 - width : x + 14;
    const within = (at, most) => `${Math.round(Math.max(0, Math.min(at, most)))}px`;
    // Setting `left` and `top` would make the browser lay out the page again.
    this.tip.style.translate = `${within(left, around.width - width)} ${within(y - height / 2, around.height - height)}`;
  }
}

function closest(all, away, most) {
  let found = null;
  let least = most;
  for (const each of all) {
    const far = away(each);
    if (far < least) [found, least] = [each, far];
  }
  return found;
}

/** The distance of a place from a box. It is 0 within the box. */
function distance(box, { x, y }) {
  return Math.hypot(Math.max(box.x - x, 0, x - box.x - box.width), Math.max(box.y - y, 0, y - box.y - box.height));
}
