// What is drawn around the marks of a chart: grid lines, measured labels, the names of axes, and a reference line.

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
/** A band narrower than NARROW pixels has no room for a word. One narrower than NARROWEST has no room for any label. */
const NARROW = 44;
const NARROWEST = 24;
/** Maximum width, in pixels, of the number of a reference. A wider number is written in a shorter form. */
const MOST_AMOUNT = 70;
/** The share of the chart's width that a reference's label may take at the right of the plot. A longer label is drawn above the plot. */
const MOST_REFERENCE = 0.25;
/** Length, in pixels, of the dashes before a reference's label above the plot. */
const DASHES = 22;
const MOST_LINES = 3;
/** The height of a label in pixels: half is above the middle of its line, half below. */
export const LINE_HEIGHT = 16;

/** The SVG element of a chart. It keeps its proportions on paper, where it is as wide as the page. */
export function canvas({ width, height }, kind) {
  return svg("svg", { class: `plot plot-${kind}`, viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
}

/** The size that remains for the drawing if a legend is shown above the plot. */
export function belowLegend({ width, height, legend = 0 }, series) {
  return { width, height: hasLegend(series) ? height - legend : height };
}

/**
 * The area for the marks that remains next to the labels.
 * @param {{width: number, height: number}} size
 * @param {{left?: string[], right?: number, bottom?: boolean, names?: boolean, above?: boolean}} labels `names`: whether the axes have
 *   names; `above`: whether a reference has its label above the plot
 * @returns {Plot}
 */
export function plotOf({ width, height }, { left = [], right = 0, bottom = true, names = false, above = false }) {
  const widest = Math.max(0, ...left.map(textWidth));
  const start = widest ? Math.ceil(widest) + GAP : 2;
  const end = Math.max(right, 24); // room for the second half of the last label, which is centred below its tick
  const top = names || above ? LABEL : GAP;
  const below = (bottom ? LABEL : GAP) + (names ? LINE_HEIGHT : 0);
  return { left: start, top, width: Math.max(20, width - start - end), height: Math.max(20, height - top - below) };
}

/** Writes the name of the vertical axis above it, and the name of the horizontal axis below its end. */
export function drawAxisNames(parent, { left, bottom }, plot) {
  const name = (kind, x, y, text) => svg("text", { class: `label ${kind}`, x, y }, shortened(text, plot.left + plot.width));
  parent.append(name("axis-name", 0, LINE_HEIGHT - 5, left), name("axis-name end", plot.left + plot.width, plot.top + plot.height + LABEL + LINE_HEIGHT - 5, bottom));
}

/**
 * Draws the grid lines and labels of the vertical axis of numbers, at the left.
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
 * Draws the labels below the plot, of one or two lines each. A label that would leave the drawing is moved inwards.
 * @param {((places: number[]) => import("./scales.js").Tick[]) | null} [written] writes the remaining times again if some had to be left
 *   out, because each label omits the part of the date that the previous label shows
 */
export function drawBottomAxis(parent, ticks, scale, plot, width, written) {
  const group = svg("g", { class: "axis axis-bottom" });
  let free = -Infinity;
  const kept = ticks.flatMap(({ at, text, lines = [text] }) => {
    const half = Math.max(...lines.map(textWidth)) / 2;
    const x = Math.min(Math.max(scale(at), half), width - half);
    if (x - half < free) return []; // labels must not overlap
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

/** The names of bands on up to three lines. Null if this does not make them different from each other. */
export function wrappedTicks(texts, step, most = MOST_LINES, splits = false) {
  const room = step - GAP;
  if (step < NARROW || most < 2 || Math.max(...texts.map(textWidth)) <= room) return null;
  const ticks = texts.map((text, at) => ({ at, lines: wrapped(text, room, most, splits) }));
  return new Set(ticks.map(({ lines }) => lines.join(" "))).size === new Set(texts).size ? ticks : null;
}

/**
 * The names of bands that are listed from top to bottom. If the bands are tall enough, a name takes up to three lines. Otherwise it is
 * shortened.
 * @param {string[]} texts
 * @param {number} room pixels of a line
 * @param {number} step pixels of a band
 * @returns {string[][]} the lines of each name
 */
export function sideNames(texts, room, step) {
  const ticks = wrappedTicks(texts, room + GAP, Math.min(MOST_LINES, Math.floor(step / LINE_HEIGHT)), true);
  return ticks ? ticks.map(({ lines }) => lines) : shortenedAll(texts, room).map((text) => [text]);
}

/** Draws one of the names of `sideNames` at the left of the plot. */
export function drawSideName(parent, lines, plot, middle) {
  const x = plot.left - GAP;
  const below = lines.slice(1).map((line) => svg("tspan", { x, dy: LINE_HEIGHT }, ` ${line}`));
  const y = (middle - (below.length * LINE_HEIGHT) / 2).toFixed(1);
  parent.append(svg("text", { class: "label end name", x, y, dy: "0.32em" }, lines[0], ...below));
}

/**
 * Names of bands, each shortened to the width of its band. If they would look alike then, only some of the names are shown, each with more
 * room.
 * @param {any[]} texts if `written` is given, only the number of texts counts
 * @param {number} step pixels of a band
 * @param {((places: number[]) => import("./scales.js").Tick[]) | null} [written] writes times, which are never cut
 */
export function bandTicks(texts, step, written) {
  const first = written ? NARROWEST / step : step < NARROW ? (Math.min(Math.max(0, ...texts.map(textWidth)), 90) + GAP) / step : 1;
  // With thousands of bands, the count grows in larger steps.
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
 * Draws a reference line across the plot, and its label: in the right margin, or above the plot.
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

/** The ends of the reference line in a plot whose vertical axis shows the numbers. */
export function levelOf(reference, scale, { left, width }) {
  const y = crisp(scale(reference.value));
  return { x1: left, x2: left + width, y1: y, y2: y };
}

/** The text of a reference's label, the margin that it needs at the right, and whether it is above the plot. */
export function referenceText(reference, way, { formats, width }, isAbove = false) {
  if (!reference) return { text: "", margin: 0, above: false };
  const digits = Math.max(0, scaleOf(reference.value) - (way.format === "percent" ? 2 : 0)); // all digits that the author wrote
  const amount = formats.fitting(reference.value, { ...way, type: "float", digits }, (text) => textWidth(text) <= MOST_AMOUNT);
  const labelled = (label) => [label, amount].filter(Boolean).join(" ");
  const whole = labelled(reference.label);
  const beside = Math.ceil(textWidth(whole)) + GAP + 4;
  if (!isAbove && beside <= width * MOST_REFERENCE) return { text: whole, whole, margin: beside, above: false };
  const text = labelled(shortened(reference.label ?? "", width - DASHES - GAP - textWidth(amount)));
  return { text, whole, margin: 0, above: true };
}

/** Moves a coordinate to the middle of its pixel, so that a hairline is sharp. */
export function crisp(pixel) {
  return Math.floor(pixel) + 0.5;
}
