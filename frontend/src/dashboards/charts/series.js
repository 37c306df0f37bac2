// Makes series from rows. Each measure is a series; if a column distinguishes series, each of its values is one.

import { number } from "../numbers.js";
import { keyOf, LAST } from "./colors.js";
import { dimension } from "./dimension.js";
import { adds, together } from "./together.js";

/** Maximum number of series: the number of colours. */
const MOST = 8;

/**
 * @typedef {object} Point
 * @property {number} x the position on the axis
 * @property {number | null} y
 * @property {import("../numbers.js").Amount} value the value of `y` with all its digits
 * @property {number} row the place of its row
 * @property {number[]} [rows] the places of all its rows, if it combines several
 * @property {number} low where its area begins
 * @property {number | null} high where its area ends, unless the chart is stacked
 */
/**
 * @typedef {object} Series
 * @property {string} key
 * @property {string} name
 * @property {number | string} color a place in the palette, or a CSS class; 0: the accent colour, for a single measure
 * @property {boolean} hidden
 * @property {boolean} [isValue] whether the series is a value of a column and not a measure
 * @property {Point[]} points in the order of the rows
 */

/**
 * @param {any} view the panel's view
 * @param {string[]} measures
 * @param {import("./rows.js").Rows} rows
 * @param {import("./dimension.js").Dimension} by
 * @param {import("./index.js").Options} options
 * @returns {Series[]}
 */
export function seriesOf(view, measures, rows, by, { colors, hidden, formats, when }) {
  const found = new Map();
  const kinds = view.color && rows.has(view.color) ? dimension(rows, view.color, formats, when, "rows") : null;
  for (const measure of measures) {
    const amounts = rows.values(measure);
    for (let row = 0; row < amounts.length; row += 1) {
      const key = kinds ? `${measures.length > 1 ? measure : ""}${keyOf(kinds.values[row])}` : measure;
      let each = found.get(key);
      if (!each) found.set(key, (each = { ...named(measure, row, kinds, measures), key, points: [] }));
      const y = number(amounts[row]);
      const known = Number.isNaN(y) ? null : y;
      each.points.push({ x: by.positions[row], y: known, value: amounts[row], row, low: 0, high: known });
    }
  }
  const every = [...found.values()];
  const all = fewest(every, measures.length === 1 && adds(view) && (view.stack || view.kind === "bar"));
  colored(all.filter(({ color }) => !color), every, kinds ? view.color : "", view, colors);
  for (const each of all) each.hidden = all.length > 1 && hidden.has(each.key);
  return all;
}

/**
 * Sets the colour of each series. A single measure gets the accent colour. A single name keeps its colour, because there may have been
 * several names before.
 */
function colored(series, every, column, view, colors) {
  const [names, all] = [series, every].map((some) => some.map(({ as }) => as));
  const found = series.length > 1 || column ? colors.of(column, names, view.colors, all) : [colors.given(names[0], view.colors) ?? 0];
  series.forEach((each, place) => (each.color = found[place]));
}

/**
 * If there are more series than colours, keeps the largest ones. The others become one series: their sum if the values may be added,
 * otherwise an entry of the legend without points.
 */
function fewest(series, summed) {
  if (series.length <= MOST) return series;
  const size = new Map(series.map((each) => [each, each.points.reduce((sum, { y }) => sum + Math.abs(y ?? 0), 0)]));
  const kept = new Set([...series].sort((a, b) => size.get(b) - size.get(a)).slice(0, MOST - 1));
  const rest = series.filter((each) => !kept.has(each));
  const points = summed ? rest.flatMap((each) => each.points) : [];
  const name = summed ? `Other (${rest.length})` : `${rest.length} more, not shown`;
  const others = series.filter((each) => kept.has(each));
  return [...others, { key: REST, name: besides(name, others.map((each) => each.name), summed ? rest : []), color: LAST, points }];
}

/**
 * The name of the series for the others. If a value has the same name, "together" is added. The name also says if parts of the others are
 * incomplete.
 */
export function besides(name, names, rest) {
  return [name, names.includes(name) && "together", cutOf(rest)].filter(Boolean).join(", ");
}

/** Why some of these buckets are incomplete. */
export const cutOf = (parts) => ["in part", "not over"].filter((how) => parts.some(({ cut }) => cut?.includes(how))).join(", ");

/** The key of the series for the others. No value has this key. */
export const REST = "\u0002";

/** The name of a series, the key `as` for its colour, and whether the series is a value of a column. */
function named(measure, row, kinds, measures) {
  if (!kinds) return { name: words(measure), as: measure };
  const text = kinds.name(row);
  const name = measures.length > 1 ? `${text}, ${words(measure)}` : text;
  return { name, as: measures.length > 1 ? name : kinds.values[row], isValue: true, cut: kinds.cut(kinds.positions[row]) };
}

/** The name of a column in words. */
export function words(column) {
  const text = column.replaceAll("_", " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A note for the viewer about `count` values. Null if there are none. */
export function note(count, one, many, formats) {
  return count ? `${formats.text(count, { type: "integer" })} ${count === 1 ? one : many}` : null;
}

/** A note about values that are not on the axis of times or numbers, because their time or number is missing. */
export function lost(points, formats) {
  return note(points.filter(({ x, y }) => y !== null && Number.isNaN(x)).length, "value has no place on the axis and is not drawn.", "values have no place on the axis and are not drawn.", formats);
}

/** The positions of all series, sorted and without duplicates. */
export function positionsOf(series) {
  const found = new Set();
  for (const { points } of series) for (const { x } of points) found.add(x);
  return [...found].filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
}

/**
 * The points of all series by position. Each series has at most one point at a position.
 * @param {string} [aggregate] how several points of a series at one position are combined
 * @returns {{at: number, values: Map<string, Point>}[]}
 */
export function aligned(series, positions, aggregate) {
  const found = new Map(positions.map((at) => [at, new Map()]));
  for (const { key, points } of series) {
    for (const point of points) {
      const values = found.get(point.x);
      const known = values?.get(key);
      if (known) known.push(point);
      else values?.set(key, [point]);
    }
  }
  return [...found].map(([at, values]) => ({ at, values: merged(values, aggregate) }));
}

/**
 * @param {Map<string, Point[]>} points
 * @returns {Map<string, Point>} one combined point for each key
 */
export function merged(points, aggregate) {
  for (const [key, all] of points) points.set(key, all.length > 1 ? one(all, aggregate) : all[0]);
  return points;
}

function one(points, aggregate) {
  const values = points.flatMap((point) => point.values ?? [point.value]);
  const value = together(values, aggregate);
  const y = number(value);
  const taken = aggregate === "none" ? points.slice(0, 1) : points;
  return { ...points[0], value, y: Number.isNaN(y) ? null : y, values, rows: taken.flatMap(rowsOf) };
}

/** @param {Point | undefined} point @returns {number[]} the places of the rows that it combines */
export function rowsOf(point) {
  return point ? (point.rows ?? [point.row]) : [];
}
