// Line charts and area charts over times, numbers or names. Areas may be stacked.

import { svg } from "../dom.js";
import { compare } from "../numbers.js";
import { bandTicks, belowLegend, canvas, drawBottomAxis, drawReference, drawValueAxis, levelOf, LINE_HEIGHT, plotOf, referenceText } from "./axes.js";
import { gapsOfReduced, LEFT_OUT, runsOf, withGaps } from "./buckets.js";
import { dimension } from "./dimension.js";
import { textWidth } from "./measure.js";
import { areaPath, linePath } from "./paths.js";
import { extentOf, labelled, linear, numberTicks, timesAnew, timeTicks, valueDomain } from "./scales.js";
import { aligned, lost, note, positionsOf, rowsOf, seriesOf } from "./series.js";
import { stacked } from "./together.js";

const MOST_ENDS = 6;
/** Height, in pixels, of a name at the end of a line. */
const NAME = LINE_HEIGHT + 2;
/** Minimum length, in pixels, of a gap in a line if the server sent only some of the rows. */
const LEAST_GAP = 3;
/** On an axis of names, a name for which a series has no row is a gap in its line. */
const NAMES = { regular: true, next: (place) => place + 1 };
/** Maximum half width, in pixels, of a value of a stack that has no neighbours. */
const ALONE = 12;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function drawLines(view, rows, options) {
  const measures = view[view.kind];
  const { reduced } = options;
  const by = dimension(rows, view.by, options.formats, { ...options.when, reduced, fill: view.fill });
  if (view.stack && by.kind === "number" && haveOnePlace(by)) return { refused: "Some of these numbers are too close to each other for places of their own." };
  const series = seriesOf(view, measures, rows, by, options);
  const notes = inOrder(series, Boolean(view.stack), options.formats);
  const [first, last] = extentOf(by.positions);
  const gaps = (points) => (reduced && by.clock ? gapsOfReduced(points, (LEAST_GAP * (last - first)) / options.width, by.clock.again ? null : options.when.zone) : by.kind === "name" && !reduced ? NAMES : by.buckets);
  for (const each of series) each.points = withGaps(each.points, gaps(each.points), view.fill);
  if (view.fill === 0 && by.buckets?.some) notes.push(LEFT_OUT);
  const shown = series.filter((each) => !each.hidden).map((each) => within(each, options.domain));
  const way = rows.way(options.formats, measures, view);
  const layers = view.stack ? layersOf(shown, view.stack === "share") : shown.map((each) => ({ ...each, spans: each.points }));
  return new LineChart({ view, rows, options, by, series, shown, layers, way, notes }).draw();
}

/** Whether two different numbers of the axis become the same double. A stack would add their values. */
function haveOnePlace({ values, positions }) {
  const known = new Map();
  return values.some((value, row) => compare(value, known.get(positions[row]) ?? value) || !known.set(positions[row], value));
}

/**
 * Sorts the points of each series by their position on the axis, whatever the order of the rows is.
 * @returns {string[]} notes for the viewer about rows that a line cannot show
 */
function inOrder(series, summed, formats) {
  const without = lost(series.flatMap(({ points }) => points), formats);
  let twice = 0;
  for (const each of series) {
    const placed = each.points.filter(({ x }) => !Number.isNaN(x)).sort((a, b) => a.x - b.x || (a.y === null) - (b.y === null));
    const isShared = ({ x }, place) => place && x === placed[place - 1].x;
    each.points = placed.filter((point, place) => point.y !== null || !isShared(point, place)); // a NULL at the position of a value is no gap
    if (!summed) twice += placed.filter((point, place) => point.y !== null && isShared(point, place)).length;
  }
  const shared = note(twice, "value shares its place on a line with another one.", "values share their place on a line with another one.", formats);
  return [without, shared];
}

/** The part of a series in the range that the viewer zoomed into. */
function within(series, domain) {
  if (!domain) return series;
  return { ...series, points: series.points.filter(({ x }) => x >= domain[0] && x <= domain[1]) };
}

/** Each series as spans, which begin where the series below it ends. */
function layersOf(series, share) {
  const places = aligned(series, positionsOf(series));
  const spans = places.map(({ values }) => stacked(series.map(({ key }) => values.get(key)?.y ?? null), share));
  return series.map((each, layer) => ({
    ...each,
    spans: places.map(({ at, values }, place) => ({ x: at, ...spans[place][layer], point: values.get(each.key) })),
  }));
}

/** Moves names apart so that each is one line away from the previous one, beginning at `from`: downwards, or upwards if `way` is -1. */
function apart(ends, from, way) {
  let before = from;
  for (const end of ends) {
    if ((end.y - before) * way < NAME) end.y = before + NAME * way;
    before = end.y;
  }
}

class LineChart {
  constructor(parts) {
    Object.assign(this, parts);
    this.share = this.view.stack === "share";
  }

  draw() {
    const { options, view } = this;
    const axisWay = this.share ? { format: "percent" } : this.way;
    const { domain, ticks } = valueDomain(this.#amounts(), { zero: view.kind === "area", way: axisWay });
    const labels = labelled(ticks, axisWay, options.formats);
    const reference = (this.reference = referenceText(view.reference, this.way, options));
    this.ends = this.#directLabels();
    const right = Math.max(reference.margin, this.ends ? Math.max(...this.shown.map(({ name }) => textWidth(name))) + 28 : 0);
    const size = this.ends ? options : belowLegend(options, this.series);
    this.plot = plotOf(size, { left: labels.map(({ text }) => text), right, above: reference.above });
    this.y = linear(domain, [this.plot.top + this.plot.height, this.plot.top]);
    this.x = linear(this.#extent(), [this.plot.left, this.plot.left + this.plot.width]);
    const root = canvas(size, view.kind);
    drawValueAxis(root, labels, this.y, this.plot);
    drawBottomAxis(root, this.#bottomTicks(), this.x, this.plot, options.width, timesAnew(options.formats, this.by));
    this.#drawMarks(root);
    if (this.ends) this.ends = this.#ends();
    if (view.reference) drawReference(root, levelOf(view.reference, this.y, this.plot), this.plot, reference);
    return this.#chart(root);
  }

  #amounts() {
    const found = this.view.reference ? [this.view.reference.value] : [];
    for (const { spans } of this.layers) {
      for (const { low, high } of spans) {
        if (high === null) continue;
        found.push(high);
        if (this.view.stack) found.push(low);
      }
    }
    return this.share ? [0, 1] : found;
  }

  #extent() {
    if (this.options.domain) return this.options.domain;
    const { buckets } = this.by;
    return extentOf(buckets?.regular ? buckets.starts : this.series.flatMap(({ points }) => [points[0]?.x, points.at(-1)?.x]));
  }

  /** Whether the names are written at the ends of the lines, which makes a legend unnecessary. */
  #directLabels() {
    const several = this.shown.length > 1 && this.shown.length <= MOST_ENDS && this.shown.length === this.series.length;
    const widest = Math.max(0, ...this.shown.map(({ name }) => textWidth(name)));
    return several && !this.view.stack && this.options.width > 480 && widest < this.options.width / 4;
  }

  #bottomTicks() {
    const { formats } = this.options;
    const { by, plot } = this;
    if (by.kind === "time") return timeTicks(this.x.domain, plot.width, formats, by, this.options.when);
    if (by.kind === "number") return numberTicks(this.x.domain, plot.width, formats, by.way);
    return bandTicks(by.names.map((_, place) => by.text(place)), plot.width / Math.max(1, by.names.length - 1));
  }

  #drawMarks(root) {
    const path = (points) => linePath(points, { ...this.#way(), y: ({ high }) => this.y(high) });
    for (const { spans, color, key } of this.layers) {
      const group = svg("g", { class: `series series-${color}`, "data-series": key });
      const runs = runsOf(spans, this.by.buckets);
      if (this.view.stack) {
        const sides = spans.some(({ low }) => low < 0) ? ["above", "below"] : ["above"];
        for (const [kind, points] of runs) group.append(svg("path", { class: kind.replace("line", "layer"), d: sides.map((side) => this.#filled(points, side)).join("") }));
      } else {
        if (this.view.kind === "area") group.append(svg("path", { class: "area", d: this.#filled(spans) }));
        group.append(...runs.map(([kind, points]) => svg("path", { class: kind, d: path(points) })));
      }
      group.append(...this.#alone(spans));
      root.append(group);
    }
    if (this.view.stack && this.layers.length) root.append(this.#nought());
  }

  /** A line at 0 wherever the whole stack is 0, to distinguish this from missing values. */
  #nought() {
    const [{ spans, color, key }] = this.layers;
    const points = spans.map(({ x }, place) => ({ x, isFlat: this.layers.every(({ spans: own }) => own[place].low === own[place].high) }));
    const d = linePath(points, { ...this.#way(), isThere: ({ isFlat }) => isFlat, y: () => this.y(0) });
    return svg("g", { class: `series series-${color}`, "data-series": key }, d && svg("path", { class: "line", d }));
  }

  #filled(spans, side) {
    const end = (which) => (span) => this.y(side ? span[side][which] : [span.low, span.high][which]);
    return areaPath(spans, { ...this.#way(), y0: end(0), y1: end(1) });
  }

  #way() {
    return { isThere: ({ high }) => high !== null, x: ({ x }) => this.x(x), digits: 2 };
  }

  /** The mark of a value whose two neighbours are missing: a dot, or in a stack a bar that covers no other position. */
  #alone(spans) {
    const there = (place) => spans[place] !== undefined && spans[place].high !== null;
    const mark = ({ x, low, high }, place) => {
      const [at, y] = [this.x(x), this.y(high)];
      const cut = this.by.buckets?.cut(x) ? " cut" : "";
      if (!this.view.stack) return svg("circle", { class: `dot${cut}`, cx: at.toFixed(2), cy: y.toFixed(2), r: 3 });
      const { left, width } = this.plot;
      const after = this.by.buckets?.next(x) ?? spans[place + 1]?.x ?? 2 * x - spans[place - 1]?.x;
      const half = Math.max(1, Math.min(ALONE, (this.x(after) - at) / 2 || ALONE));
      const [from, to] = [Math.max(left, at - half), Math.min(left + width, at + half)];
      return svg("rect", { class: `layer${cut}`, x: from.toFixed(2), y: y.toFixed(2), width: (to - from).toFixed(2), height: (this.y(low) - y).toFixed(2) });
    };
    return spans.flatMap((span, place) => (there(place) && !there(place - 1) && !there(place + 1) ? mark(span, place) : []));
  }

  #chart(root) {
    const zoom = this.by.kind === "name" || this.rows.rows.length < 3 ? null : (pixel) => this.x.invert(pixel);
    const chart = { svg: root, series: this.series, plot: this.plot, ends: this.ends || null, zoom, by: this.by, notes: this.notes };
    let stops; // there are thousands, which are not needed before the viewer points at the chart or presses a key
    return Object.defineProperty(chart, "stops", { get: () => (stops ??= this.#stops()) });
  }

  /** The places of the names next to the lines. They and the reference's label keep the order of the values and stay within the plot. */
  #ends() {
    const found = this.shown.map((each) => ({ key: each.key, y: this.y(each.points.findLast(({ y }) => y !== null)?.y ?? 0) }));
    const { reference } = this;
    const { top, height } = this.plot;
    const line = reference.margin ? this.y(this.view.reference.value) : -Infinity;
    found.sort((a, b) => a.y - b.y);
    const above = found.filter(({ y }) => y < line);
    const below = found.slice(above.length);
    apart([...above].reverse(), line, -1);
    apart(below, line, 1);
    reference.y = line;
    const all = reference.margin ? [...above, reference, ...below] : found;
    apart([...all].reverse(), top + height + NAME, -1);
    apart(all, top - NAME, 1);
    return found.map(({ key, y }) => ({ key, y, x: this.plot.left + this.plot.width + 6 }));
  }

  /**
   * One stop for each position on the axis, with the values of all series there. Numbers that become the same double have separate stops.
   */
  #stops() {
    const found = new Map();
    const numbers = this.by.kind === "number";
    for (const { spans, name, color, key } of this.layers) {
      for (const span of spans) {
        const point = this.view.stack ? span.point : span;
        if (span.high === null || !point || point.y === null) continue;
        const exact = numbers && rowsOf(point).map((row) => this.by.values[row]).find((value) => typeof value === "string");
        const place = exact || span.x;
        if (!found.has(place)) found.set(place, [span.x, []]);
        const y = this.y(span.high);
        const height = this.view.stack ? this.y(span.low) - y : 0;
        found.get(place)[1].push({ name, color, key, amount: point.value, rows: rowsOf(point), y, height, share: span.high - span.low });
      }
    }
    return this.#fullest([...found.values()].sort(([a], [b]) => a - b)).map(([at, items]) => this.#stop(at, items));
  }

  /**
   * Of the stops on one pixel, only those with the most series: if there are many rows, the server selects other positions for each series.
   */
  #fullest(places) {
    const most = new Map();
    const pixel = (at) => Math.floor(this.x(at));
    for (const [at, items] of places) most.set(pixel(at), Math.max(items.length, most.get(pixel(at)) ?? 0));
    return places.filter(([at, items]) => items.length === most.get(pixel(at)));
  }

  #stop(at, items) {
    const write = (item) => {
      const amount = this.options.formats.measured(item.amount, this.way);
      return this.share ? `${this.options.formats.share(item.share)} (${amount})` : amount;
    };
    const x = this.x(at);
    return {
      x,
      y: Math.min(...items.map(({ y }) => y)),
      at,
      parts: items.map(({ key, rows, y, height }) => ({ key, rows, marks: [], box: { x, y, width: 0, height } })),
      dots: items.map(({ y, color }) => ({ y, color })),
      title: () => (this.by.kind === "number" ? [...new Set(items.flatMap(({ rows }) => rows.map(this.by.name)))].join(", ") : this.by.text(at)),
      items: () => items.map((item) => ({ name: item.name, color: item.color, text: write(item) })),
    };
  }
}
