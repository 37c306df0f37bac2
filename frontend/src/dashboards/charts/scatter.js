// A scatter plot: points over two columns. A third column may set the size of the points.

import { number } from "../numbers.js";
import { svg } from "../dom.js";
import { bandTicks, belowLegend, canvas, drawAxisNames, drawBottomAxis, drawValueAxis, plotOf } from "./axes.js";
import { dimension } from "./dimension.js";
import { areAlike, extentOf, labelled, linear, numberTicks, timesAnew, timeTicks, valueDomain } from "./scales.js";
import { lost, note, seriesOf, words } from "./series.js";

const SMALLEST = 3;
const LARGEST = 14;
const ALONE = 4;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function draw(view, rows, options) {
  const by = dimension(rows, view.by, options.formats, options.when);
  const series = seriesOf(view, [view.scatter], rows, by, options);
  const radius = radiusOf(view, rows);
  const points = series.filter(({ hidden }) => !hidden).flatMap((each) => each.points.filter(({ x, y }) => y !== null && !Number.isNaN(x)).map((point) => Object.assign(point, { series: each, r: radius(point.row) })));
  const way = rows.way(options.formats, [view.scatter], view);
  const { domain, ticks } = roomy(points.map(({ y }) => y), way);
  const labels = labelled(ticks, way, options.formats);
  const size = belowLegend(options, series);
  const plot = plotOf(size, { left: labels.map(({ text }) => text), names: true });
  const inset = view.size ? LARGEST : ALONE;
  const y = linear(domain, [plot.top + plot.height - inset, plot.top + inset]);
  const x = linear(along(by, points), [plot.left + inset, plot.left + plot.width - inset]);
  const root = canvas(size, "scatter");
  drawValueAxis(root, labels, y, plot);
  drawBottomAxis(root, bottom(by, x, plot, options), x, plot, options.width, timesAnew(options.formats, by));
  drawAxisNames(root, { left: [words(view.scatter), view.unit].filter(Boolean).join(", "), bottom: words(view.by) }, plot);
  const known = {}; // one mark of each appearance, which is copied because there are thousands of points
  const marks = points.sort((a, b) => b.r - a.r).map((point) => {
    const { key, color } = point.series;
    const cut = by.buckets?.cut(point.x) ? " cut" : "";
    const mark = (known[`${point.r}${cut} ${key}`] ??= svg("circle", { class: `mark point${cut} series-${color}`, "data-series": key, r: point.r.toFixed(2) })).cloneNode();
    mark.setAttribute("cx", x(point.x).toFixed(2));
    mark.setAttribute("cy", y(point.y).toFixed(2));
    root.append(mark);
    return mark;
  });
  const stop = (point, place) => ({
    x: x(point.x),
    y: y(point.y),
    parts: [{ rows: [point.row], marks: [marks[place]] }],
    title: () => titleOf(view, rows, by, point, options.formats),
    items: () => itemsOf(view, rows, by, point, way, options.formats),
  });
  let stops; // not needed before the viewer points at the chart or presses a key
  return {
    svg: root,
    series,
    get stops() {
      return (stops ??= points.map(stop).sort((a, b) => a.x - b.x));
    },
    plot,
    ends: null,
    zoom: null,
    nearest: "point",
    by,
    notes: notesOf(view, rows, series, points, options.formats),
  };
}

/** Notes for the viewer about values that are not drawn as they are. */
function notesOf(view, rows, series, points, formats) {
  const sizes = rows.values(view.size);
  const count = (test) => points.filter(({ row }) => test(number(sizes[row]))).length;
  return [
    lost(series.flatMap((each) => each.points), formats),
    note(count((size) => size < 0), "size is below 0 and drawn as the smallest.", "sizes are below 0 and drawn as the smallest.", formats),
    note(view.size && rows.has(view.size) ? count(Number.isNaN) : 0, "point has no size and is drawn as the smallest.", "points have no size and are drawn as the smallest.", formats),
  ];
}

/** The ends of an axis, with some space so that no point is on the edge. */
function along(by, points) {
  if (by.kind === "name") return [-0.5, by.names.length - 0.5];
  const all = points.map(({ x }) => x);
  const ends = extentOf(all);
  return by.kind === "number" && (ends[0] === ends[1] || !areAlike(ends)) ? roomy(all).domain : ends;
}

/** The axis of these numbers. If there is only one number, it is in the middle. */
function roomy(values, way) {
  const [low, high] = extentOf(values);
  const around = Math.abs(low) / 2 || 1;
  return valueDomain(low === high ? [low - around, high + around] : values, { zero: false, way });
}

function bottom(by, scale, plot, { formats, when }) {
  if (by.kind === "time") return timeTicks(scale.domain, plot.width, formats, by, when);
  if (by.kind === "number") return numberTicks(scale.domain, plot.width, formats, by.way);
  return bandTicks(by.names.map((_, at) => by.text(at)), plot.width / Math.max(1, by.names.length));
}

/** The area of a circle is proportional to its number. A proportional radius would make differences look larger. */
function radiusOf(view, rows) {
  if (!view.size || !rows.has(view.size)) return () => ALONE;
  const sizes = rows.values(view.size).map((value) => Math.max(0, number(value) || 0));
  const [smallest, largest] = extentOf(sizes);
  if (!largest) return () => SMALLEST;
  return (row) => (smallest === largest ? ALONE : Math.max(SMALLEST, LARGEST * Math.sqrt(sizes[row] / largest)));
}

function titleOf(view, rows, by, point, formats) {
  if (view.label !== view.by && rows.has(view.label)) {
    const labels = rows.values(view.label);
    return formats.names(labels, rows.way(formats, [view.label], { along: true }))(labels[point.row]);
  }
  return view.color ? point.series.name : by.name(point.row);
}

function itemsOf(view, rows, by, point, way, formats) {
  const found = [
    { name: words(view.by), text: by.name(point.row) },
    { name: words(view.scatter), color: point.series.color, text: formats.measured(point.value, way) },
  ];
  if (view.size && rows.has(view.size)) {
    found.push({ name: words(view.size), text: formats.text(rows.values(view.size)[point.row], rows.way(formats, [view.size], {})) });
  }
  return found;
}
