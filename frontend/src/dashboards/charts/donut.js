// Parts of a whole: a ring, its whole in the middle, and its legend with names, values and shares beside it.

import { arc, pie } from "d3-shape";

import { number } from "../formats.js";
import { svg } from "../dom.js";
import { canvas } from "./axes.js";
import { dimension } from "./dimension.js";
import { wayOf } from "./way.js";

/** Slices beside "Other", where the author says nothing else: each then has a colour of its own. */
const MOST = 7;
const REST_COLOR = 8;
const SMALLEST = 180;
const LARGEST = { beside: 260, below: 300 };
/** A line of the legend below the ring, and the gap above it: so ring and legend are together as tall as their place. */
const LEGEND_LINE = 24;
const LEGEND_GAP = 12;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function drawDonut(view, rows, options) {
  const slices = slicesOf(view, rows, options);
  const shown = slices.filter((each) => !each.hidden);
  const total = shown.reduce((sum, { amount }) => sum + amount, 0);
  const way = wayOf(view, rows, [view.donut], options.formats);
  const below = options.beside || slices.length < 2 ? 0 : slices.length * LEGEND_LINE + LEGEND_GAP;
  const side = Math.max(SMALLEST, Math.min(LARGEST[options.beside ? "beside" : "below"], options.height - below, options.width));
  const root = canvas({ width: side, height: side }, "donut");
  const group = svg("g", { transform: `translate(${side / 2} ${side / 2})` });
  const ring = arc().innerRadius(side * 0.32).outerRadius(side / 2 - 3).digits(2);
  const angles = pie().sort(null).value(({ amount }) => amount)(shown);
  const stops = angles.map((angle) => {
    const mark = svg("path", { class: `mark slice series-${angle.data.color}`, "data-series": angle.data.key, d: ring(angle) });
    group.append(mark);
    const [x, y] = ring.centroid(angle);
    return stopOf(angle.data, { x: x + side / 2, y: y + side / 2 }, mark, total, way, options.formats);
  });
  const middle = options.formats.text(total, way);
  group.append(svg("text", { class: "total middle", dy: "0.35em" }, middle));
  root.append(group);
  for (const slice of slices) {
    slice.note = slice.hidden ? "" : options.formats.text(slice.amount / (total || 1), { format: "percent", digits: 0 });
  }
  return { svg: root, series: slices, stops, plot: { left: 0, top: 0, width: side, height: side }, ends: null, zoom: null, beside: true };
}

function slicesOf(view, rows, { colors, hidden, formats }) {
  const by = dimension(rows, view.by, formats, true);
  const sums = by.names.map((value, place) => ({ value, key: String(value), name: by.text(place), amount: 0, rows: [] }));
  rows.values(view.donut).forEach((value, row) => {
    const slice = sums[by.positions[row]];
    slice.amount += Math.max(0, number(value) || 0); // a part of a whole is never less than nothing
    slice.rows.push(row);
  });
  const sort = view.sort ?? "largest";
  if (sort === "largest") sums.sort((a, b) => b.amount - a.amount);
  if (sort === "smallest") sums.sort((a, b) => a.amount - b.amount);
  if (sort === "name") sums.sort((a, b) => a.name.localeCompare(b.name, formats.locale, { numeric: true }));
  const most = view.limit ?? MOST;
  const slices = sums.length > most + 1 ? [...sums.slice(0, most), rest(sums.slice(most))] : sums;
  return slices.map((slice) => ({
    ...slice,
    color: slice.rest ? REST_COLOR : colors.of(view.by, slice.value),
    hidden: slices.length > 1 && hidden.has(slice.key),
  }));
}

function rest(slices) {
  const amount = slices.reduce((sum, each) => sum + each.amount, 0);
  return { value: null, key: "…", name: `Other (${slices.length})`, amount, rows: slices.flatMap(({ rows }) => rows), rest: true };
}

function stopOf(slice, place, mark, total, way, formats) {
  return {
    ...place,
    parts: [{ rows: slice.rows, marks: [mark] }],
    title: () => slice.name,
    items: () => [
      { name: "", color: slice.color, text: formats.text(slice.amount, way) },
      { name: "Share", text: formats.text(slice.amount / (total || 1), { format: "percent" }) },
    ],
  };
}
