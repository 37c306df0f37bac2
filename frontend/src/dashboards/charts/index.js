// Draws charts of all kinds. A panel's view and its rows become an SVG and the stops at which a viewer can read it.

import { load, loaded } from "../chunks.js";
import { number } from "../numbers.js";
import { drawBars } from "./bars.js";
import { drawLines } from "./lines.js";
import { note } from "./series.js";
import { adds } from "./together.js";

/**
 * @typedef {object} Options
 * @property {number} width CSS pixels
 * @property {number} height CSS pixels, including the legend
 * @property {number} legend height of the legend in CSS pixels
 * @property {boolean} beside whether a donut's legend is next to the ring; otherwise it is below
 * @property {import("../values.js").Formats} formats
 * @property {import("./colors.js").SeriesColors} colors
 * @property {Set<string>} hidden keys of the series that the viewer has hidden
 * @property {import("./buckets.js").When} when
 * @property {boolean} [reduced] whether the server sent only some of the rows
 * @property {[number, number]} [domain] the part of the axis that a viewer zoomed into
 */
/**
 * @typedef {object} Stop a place of the chart that a pointer or a key can select
 * @property {number} x
 * @property {number} y
 * @property {Part[]} parts the parts that a click can select there: a single one, or one for each series
 * @property {() => string} title
 * @property {() => {name: string, text: string, color?: number}[]} items one for each part, if there are several
 */
/**
 * @typedef {object} Part
 * @property {number[]} rows the places of its rows; several if it combines them
 * @property {Element[]} marks
 * @property {string} [key] the key of its series
 * @property {{x: number, y: number, width: number, height: number}} [box] where it is drawn, if its stop has several parts
 */
/**
 * @typedef {object} Chart
 * @property {SVGElement} svg
 * @property {{key: string, name: string, color: number, hidden: boolean, note?: string}[]} series
 * @property {Stop[]} stops in the order in which the arrow keys visit them
 * @property {import("./axes.js").Plot} plot
 * @property {{key: string, x: number, y: number}[] | null} ends the places of the names at the ends of lines, if they are written there
 * @property {((pixel: number) => number) | null} zoom converts a pixel to a position on the axis, if the axis can be zoomed
 * @property {(string | false | null)[]} [notes] notes for the viewer about rows that are not visible
 * @property {boolean} [lying] whether the stops are arranged from top to bottom
 * @property {"point"} [nearest] how a pointer finds a stop: by the distance in both directions; otherwise only along the axis
 */

const DRAW = { line: drawLines, area: drawLines, bar: drawBars };
/** The kinds whose code is in a separate bundle. */
const CHUNKS = ["donut", "heatmap", "scatter", "vega"];

/** @returns {Promise<any> | null} resolves when a chart of this kind can be drawn; null if it can be drawn now */
export function missingOf(kind) {
  return CHUNKS.includes(kind) && !loaded[`${kind}.js`] ? load(`${kind}.js`) : null;
}

/** @returns {Chart | {refused: string}} a sentence for the viewer if a drawing would be misleading */
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

/** The view without settings that would be misleading for these values, and a note for the viewer about the change. */
function truthful(view, measures, rows) {
  if (view.stack && !adds(view)) return [{ ...view, stack: undefined }, "These values do not add up, so they are not stacked."];
  const negative = view.stack === "share" && measures.some((name) => rows.values(name).some((value) => number(value) < 0));
  return negative ? [{ ...view, stack: "sum" }, "Some values are below 0, so these are the values and not their shares."] : [view];
}

/** A description of the chart for screen readers. */
export function describe(view, rows, formats) {
  const kinds = { bar: view.horizontal ? "horizontal bar chart" : "bar chart", heatmap: "heat map", donut: "donut chart", scatter: "scatter plot" };
  return `${view.title ?? ""}${view.title ? ", " : ""}${kinds[view.kind] ?? `${view.kind} chart`}, ${formats.text(rows.rows.length, { type: "integer" })} rows`;
}
