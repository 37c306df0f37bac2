// The charts by kind: what a panel's view says, and rows, become an SVG and the places where it can be read.

import { load, loaded } from "../chunks.js";
import { number } from "../numbers.js";
import { drawBars } from "./bars.js";
import { drawLines } from "./lines.js";
import { note } from "./series.js";
import { adds } from "./together.js";

/**
 * @typedef {object} Options
 * @property {number} width CSS pixels
 * @property {number} height CSS pixels, with a legend
 * @property {number} legend CSS pixels that a legend takes
 * @property {boolean} beside whether a donut's legend stands beside it; else below
 * @property {import("../values.js").Formats} formats
 * @property {import("./colors.js").SeriesColors} colors
 * @property {Set<string>} hidden keys of series that a viewer took out
 * @property {import("./buckets.js").When} when
 * @property {boolean} [reduced] whether the rows are some of many
 * @property {[number, number]} [domain] the part of the axis that a viewer zoomed into
 */
/**
 * @typedef {object} Stop a place that a pointer or a key can reach
 * @property {number} x
 * @property {number} y
 * @property {Part[]} parts what a click can take there: one, or one for each series
 * @property {() => string} title
 * @property {() => {name: string, text: string, color?: number}[]} items where there are several parts, one for each
 */
/**
 * @typedef {object} Part
 * @property {number[]} rows the places of its rows; several where it sums them up
 * @property {Element[]} marks
 * @property {string} [key] of its series
 * @property {{x: number, y: number, width: number, height: number}} [box] where it is drawn, where a stop has several
 */
/**
 * @typedef {object} Chart
 * @property {SVGElement} svg
 * @property {{key: string, name: string, color: number, hidden: boolean, note?: string}[]} series
 * @property {Stop[]} stops in the order in which keys go through them
 * @property {import("./axes.js").Plot} plot
 * @property {{key: string, x: number, y: number}[] | null} ends where names stand beside the ends of lines
 * @property {((pixel: number) => number) | null} zoom from a pixel to the axis, where it can be zoomed
 * @property {(string | false | null)[]} [notes] what a viewer should know of rows that are not seen
 * @property {boolean} [lying] whether the stops are below one another
 * @property {"point"} [nearest] how a pointer finds a stop: by both directions; else along the axis
 */

const DRAW = { line: drawLines, area: drawLines, bar: drawBars };
/** The kinds that are drawn by a bundle of their own. */
const CHUNKS = ["donut", "heatmap", "scatter", "vega"];

/** @returns {Promise<any> | null} what a kind waits for before it can be drawn; null where that is here */
export function missingOf(kind) {
  return CHUNKS.includes(kind) && !loaded[`${kind}.js`] ? load(`${kind}.js`) : null;
}

/** @returns {Chart | {refused: string}} a sentence where a drawing would say something wrong */
export function drawChart(view, rows, options) {
  const measures = [view[view.kind]].flat();
  const lacking = [view.by, view.color, view.rows, ...measures].filter((name) => name && !rows.has(name));
  const word = lacking.length ? `The rows have no ${lacking.join(", ")}.` : "";
  if (lacking.length > measures.length - 1 || lacking.some((name) => !measures.includes(name))) return { refused: word };
  let [lost, size] = [0, 0];
  for (const value of measures.flatMap((name) => rows.values(name))) {
    const amount = Math.abs(number(value));
    if (amount >= 0) size += amount;
    else if (value !== null) lost += 1;
  }
  if (size === Infinity) return { refused: "These values are too large to be drawn." };
  const nowhere = note(lost, "value is not a finite number and is not drawn.", "values are not finite numbers and are not drawn.", options.formats);
  const [shown, said] = truthful(view, measures, rows);
  if (!size && (shown.stack === "share" || view.kind === "donut")) return { refused: "All values are 0, so there are no parts of a whole." };
  const draw = DRAW[view.kind] ?? loaded[`${view.kind}.js`].draw;
  const chart = draw(shown, rows, options);
  chart.notes = [...(chart.notes ?? []), word, said, nowhere].filter(Boolean);
  return chart;
}

/** The view as it can be drawn of these values, and what a viewer should know of that. */
function truthful(view, measures, rows) {
  if (view.stack && !adds(view)) return [{ ...view, stack: undefined }, "These values do not add up, so they are not stacked."];
  const negative = view.stack === "share" && measures.some((name) => rows.values(name).some((value) => number(value) < 0));
  return negative ? [{ ...view, stack: "sum" }, "Some values are below 0, so these are the values and not their shares."] : [view];
}

/** What a chart is, for who does not see it. */
export function describe(view, rows, formats) {
  const kinds = { bar: view.horizontal ? "horizontal bar chart" : "bar chart", heatmap: "heat map", donut: "donut chart", scatter: "scatter plot" };
  return `${view.title ?? ""}${view.title ? ", " : ""}${kinds[view.kind] ?? `${view.kind} chart`}, ${formats.text(rows.rows.length, { type: "integer" })} rows`;
}
