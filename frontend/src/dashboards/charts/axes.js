// What surrounds the marks: few grid lines, labels that are measured, a line across for a reference.

import { svg } from "../dom.js";
import { scaleOf } from "../numbers.js";
import { hasLegend } from "./legend.js";
import { shortened, shortenedAll, textWidth, wrapped } from "./measure.js";

/**
 * @typedef {object} Plot where the marks lie, in pixels
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 */

const GAP = 8;
const LABEL = 26;
/** Bands that are too narrow for a word, and for any label. */
const NARROW = 44;
const NARROWEST = 24;
/** The pixels of a reference's number, before it is written shorter. */
const MOST_AMOUNT = 70;
/** The share of the width that a reference's label may take beside the plot; a longer one stands above it. */
const MOST_REFERENCE = 0.25;
/** Pixels of the dashes before a reference's label that stands above the plot. */
const DASHES = 22;
const MOST_LINES = 3;
/** A label's height, half above its line and half below. */
export const LINE_HEIGHT = 16;

/** The element of a chart: it keeps its shape on paper, where it is as wide as the page. */
export function canvas({ width, height }, kind) {
  return svg("svg", { class: `plot plot-${kind}`, viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
}

/** The size that is left beside a legend, which stands above the plot. */
export function belowLegend({ width, height, legend = 0 }, series) {
  return { width, height: hasLegend(series) ? height - legend : height };
}

/**
 * The room for the marks beside the labels.
 * @param {{width: number, height: number}} size
 * @param {{left?: string[], right?: number, bottom?: boolean, names?: boolean, above?: boolean}} labels `names`: of the axes themselves; `above`:
 *   of a reference
 * @returns {Plot}
 */
export function plotOf({ width, height }, { left = [], right = 0, bottom = true, names = false, above = false }) {
  const widest = Math.max(0, ...left.map(textWidth));
  const start = widest ? Math.ceil(widest) + GAP : 2;
  const end = Math.max(right, 24); // so that the last label stands below its place
  const top = names || above ? LABEL : GAP;
  const below = (bottom ? LABEL : GAP) + (names ? LINE_HEIGHT : 0);
  return { left: start, top, width: Math.max(20, width - start - end), height: Math.max(20, height - top - below) };
}

/** What each axis is of: above the one of the height, below the other one at its end. */
export function drawAxisNames(parent, { left, bottom }, plot) {
  const name = (kind, x, y, text) => svg("text", { class: `label ${kind}`, x, y }, shortened(text, plot.left + plot.width));
  parent.append(name("axis-name", 0, LINE_HEIGHT - 5, left), name("axis-name end", plot.left + plot.width, plot.top + plot.height + LABEL + LINE_HEIGHT - 5, bottom));
}

/**
 * Grid lines and labels of the axis of numbers, which stands at the left.
 * @param {SVGElement} parent
 * @param {import("./scales.js").Tick[]} ticks
 */
export function drawValueAxis(parent, ticks, scale, plot) {
  const group = svg("g", { class: "axis axis-value" });
  for (const { at, text } of ticks) {
    const y = crisp(scale(at));
    group.append(
      svg("line", { class: at === 0 ? "grid zero" : "grid", x1: plot.left, x2: plot.left + plot.width, y1: y, y2: y }),
      svg("text", { class: "label end", x: plot.left - GAP, y, dy: "0.32em" }, text),
    );
  }
  parent.append(group);
}

/**
 * Labels below the plot, of one line or two, of which each stands whole within the drawing.
 * @param {((places: number[]) => import("./scales.js").Tick[]) | null} [written] writes times anew where some are left out:
 *   each says of its date what the label before it does not say
 */
export function drawBottomAxis(parent, ticks, scale, plot, width, written) {
  const group = svg("g", { class: "axis axis-bottom" });
  let free = -Infinity;
  const kept = ticks.flatMap(({ at, text, lines = [text] }) => {
    const half = Math.max(...lines.map(textWidth)) / 2;
    const x = Math.min(Math.max(scale(at), half), width - half);
    if (x - half < free) return []; // never one over another
    free = x + half + GAP;
    return [{ at, lines, x }];
  });
  if (written && kept.length < ticks.length) return drawBottomAxis(parent, written(kept.map(({ at }) => at)), scale, plot, width, written);
  const y = plot.top + plot.height + LABEL - 5;
  for (const { lines, x } of kept) {
    const below = lines.slice(1).map((line) => svg("tspan", { x: x.toFixed(1), dy: LINE_HEIGHT }, ` ${line}`));
    group.append(svg("text", { class: "label middle", x: x.toFixed(1), y }, lines[0], ...below));
  }
  parent.append(group);
}

/** The names of bands on up to three lines, where that is enough to tell them apart; else null. */
export function wrappedTicks(texts, step, most = MOST_LINES, splits = false) {
  const room = step - GAP;
  if (step < NARROW || most < 2 || Math.max(...texts.map(textWidth)) <= room) return null;
  const ticks = texts.map((text, at) => ({ at, lines: wrapped(text, room, most, splits) }));
  return new Set(ticks.map(({ lines }) => lines.join(" "))).size === new Set(texts).size ? ticks : null;
}

/**
 * The names of bands below one another: on up to three lines, where a band is as tall, else shortened.
 * @param {string[]} texts
 * @param {number} room pixels of a line
 * @param {number} step pixels of a band
 * @returns {string[][]} the lines of each
 */
export function sideNames(texts, room, step) {
  const ticks = wrappedTicks(texts, room + GAP, Math.min(MOST_LINES, Math.floor(step / LINE_HEIGHT)), true);
  return ticks ? ticks.map(({ lines }) => lines) : shortenedAll(texts, room).map((text) => [text]);
}

/** One of them, at the left of the plot. */
export function drawSideName(parent, lines, plot, middle) {
  const x = plot.left - GAP;
  const below = lines.slice(1).map((line) => svg("tspan", { x, dy: LINE_HEIGHT }, ` ${line}`));
  const y = (middle - (below.length * LINE_HEIGHT) / 2).toFixed(1);
  parent.append(svg("text", { class: "label end name", x, y, dy: "0.32em" }, lines[0], ...below));
}

/**
 * Names of bands: each shortened to its band; only as many as fit where that is too narrow to tell them apart.
 * @param {any[]} texts with `written` only their number counts
 * @param {number} step pixels of a band
 * @param {((places: number[]) => import("./scales.js").Tick[]) | null} [written] writes times, which are never cut
 */
export function bandTicks(texts, step, written) {
  const first = written ? NARROWEST / step : step < NARROW ? (Math.min(Math.max(0, ...texts.map(textWidth)), 90) + GAP) / step : 1;
  // Of thousands of bands not each number is tried.
  for (let count = Math.max(1, Math.ceil(first)); ; count += Math.ceil(count / 64)) {
    const room = count * step - GAP;
    const places = Array.from({ length: Math.ceil(texts.length / count) }, (_, nth) => nth * count);
    const whole = places.map((at) => texts[at]);
    const shown = written ? written(places) : shortenedAll(whole, room).map((text, place) => ({ at: places[place], text }));
    const fits = written ? shown.every(({ text }) => textWidth(text) <= room) : new Set(shown.map(({ text }) => text)).size === new Set(whole).size;
    if (fits || count >= texts.length) return shown;
  }
}

/**
 * A reference line across the plot, and its label: beside it, in a margin of its own, or above the plot.
 * @param {{x1: number, x2: number, y1: number, y2: number}} line
 * @param {ReturnType<typeof referenceText>} label
 */
export function drawReference(parent, line, plot, { text, whole, above, y: moved = line.y1 }) {
  const [x, y] = above ? [DASHES, GAP] : [plot.left + plot.width + GAP, moved];
  parent.append(
    svg(
      "g",
      { class: "reference" },
      svg("line", line),
      above && svg("path", { d: `M0,${crisp(GAP)}H${DASHES - 6}` }),
      svg("text", { class: "label", x, y, dy: "0.32em" }, text, text === whole ? null : svg("title", {}, whole)),
    ),
  );
}

/** The line of a reference across a plot whose numbers are its height. */
export function levelOf(reference, scale, { left, width }) {
  const y = crisp(scale(reference.value));
  return { x1: left, x2: left + width, y1: y, y2: y };
}

/** What a reference line says, the margin that it needs, and whether it stands above the plot. */
export function referenceText(reference, way, { formats, width }, isAbove = false) {
  if (!reference) return { text: "", margin: 0, above: false };
  const digits = Math.max(0, scaleOf(reference.value) - (way.format === "percent" ? 2 : 0)); // the author's own, all of them
  const amount = formats.fitting(reference.value, { ...way, type: "float", digits }, (text) => textWidth(text) <= MOST_AMOUNT);
  const labelled = (label) => [label, amount].filter(Boolean).join(" ");
  const whole = labelled(reference.label);
  const beside = Math.ceil(textWidth(whole)) + GAP + 4;
  if (!isAbove && beside <= width * MOST_REFERENCE) return { text: whole, whole, margin: beside, above: false };
  const text = labelled(shortened(reference.label ?? "", width - DASHES - GAP - textWidth(amount)));
  return { text, whole, margin: 0, above: true };
}

/** A hairline in the middle of a pixel. */
export function crisp(pixel) {
  return Math.floor(pixel) + 0.5;
}
