// Bar charts, vertical or horizontal. The bars of a group are side by side, stacked, or stacked as shares of the whole.

import { svg } from "../dom.js";
import { number } from "../numbers.js";
import { bandTicks, belowLegend, canvas, crisp, drawBottomAxis, drawReference, drawSideName, drawValueAxis, levelOf, LINE_HEIGHT, plotOf, referenceText, sideNames, wrappedTicks } from "./axes.js";
import { LEFT_OUT } from "./buckets.js";
import { dimension } from "./dimension.js";
import { isWhole, textWidth } from "./measure.js";
import { labelled, linear, valueDomain } from "./scales.js";
import { aligned, besides, cutOf, lost, merged, note, rowsOf, seriesOf } from "./series.js";
import { adds, stacked, together } from "./together.js";

/** The share of its band that a group of bars takes at most. */
const BAND = 0.72;
const THICKEST = 48;
const THICKEST_LYING = 22;
/**
 * Minimum height, in pixels, of a bar that is horizontal because its name has no room below it. The second number: how many such bars may
 * make a chart taller.
 */
const LEAST_LYING = LINE_HEIGHT + 4;
const MOST_LYING = 30;
const LACKING = "Some bars have no room for their name.";
const EQUAL = "The bars stand at equal distances, whatever their numbers are.";
/** Minimum width, in pixels, for the bars between their names and their numbers. */
const SHORTEST_LYING = 32;
/** The share of the width that the number at the end of a bar may take. A wider number is written in a shorter form. */
const MOST_AMOUNT = 0.25;
/** The names of the bar that stands for all groups beyond the limit, by aggregate. */
const REST = { sum: "Other", mean: "Mean of others", max: "Largest of others" };
/**
 * The shares of the width that names may take. The first share at which no name is cut is used, or else the first at which no two names
 * look alike.
 */
const SHARES = [0.4, 0.55];
const NO_BAR = { marks: [] };
/** Thickness, in pixels, of the line that is drawn for a value of 0. */
const NOUGHT = 2;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function drawBars(view, rows, options) {
  const inTime = !view.horizontal && !view.limit && (view.sort ?? "query") === "query";
  const by = dimension(rows, view.by, options.formats, { ...options.when, fill: view.fill }, inTime ? "time" : "rows");
  const series = seriesOf(view, view.bar, rows, by, options);
  const shown = series.filter((each) => !each.hidden);
  const found = aligned(shown, by.names.map((_, place) => place), view.aggregate);
  if (view.fill === 0 && (by.short || by.buckets)) found.forEach((group) => filled(group, shown));
  const { groups, notes } = ordered(found, view, by, options.formats);
  notes.push(lost(series.flatMap(({ points }) => points), options.formats));
  if (inTime && by.buckets?.some) notes.push(LEFT_OUT);
  const way = rows.way(options.formats, view.bar, view);
  const parts = { view, options, by, inTime, series, shown, groups, notes, way };
  const standing = view.horizontal ? null : new StandingBars(parts).draw();
  if (standing && (by.short && inTime || !standing.cut)) return standing;
  const height = groups.length > MOST_LYING ? 0 : groups.length * LEAST_LYING + options.legend;
  const lying = new LyingBars({ ...parts, options: { ...options, height: Math.max(options.height, height) } }).draw();
  if (!standing || !lying.cut) return lying;
  if (by.sized && !by.short) notes.push(EQUAL);
  if (standing.lacks) notes.push(LACKING);
  return standing;
}

function filled({ at, values }, series) {
  for (const { key } of series) if (!values.has(key)) values.set(key, { x: at, y: 0, value: 0, rows: [], low: 0, high: 0 });
}

/**
 * The total of a group, exact and as a number. For values that may not be added, it is the largest value, by which the groups are ordered.
 */
function totalOf({ values }, view) {
  const exact = together([...values.values()].map(({ value }) => value), adds(view) ? "sum" : "max");
  return { exact, total: number(exact) };
}

/** The groups in the order that the author asks for, with those without a value last. Groups beyond the limit become one group. */
function ordered(groups, view, by, formats) {
  const named = groups.map((group) => ({ ...group, get text() { return by.text(group.at); }, cut: by.cut(group.at), ...totalOf(group, view) }));
  const way = { largest: -1, smallest: 1 }[view.sort];
  if (way) named.sort((a, b) => Number.isNaN(a.total) - Number.isNaN(b.total) || way * (a.total - b.total));
  if (view.sort === "name") named.sort((a, b) => by.compare(a.at, b.at));
  const twice = view.aggregate === "none" ? named.flatMap(({ values }) => [...values.values()].flatMap((point) => point.values?.slice(1) ?? [])).length : 0;
  const notes = [note(twice, "value shares its bar with another one and is not drawn.", "values share their bar with another one and are not drawn.", formats)];
  if (!view.limit || named.length <= view.limit + 1) return { groups: named, notes };
  const rest = named.splice(view.limit);
  const { aggregate = "sum" } = view;
  if (aggregate === "none") notes.push(`And ${formats.text(rest.length, { type: "integer" })} more.`);
  else {
    const values = new Map();
    for (const group of rest) for (const [key, point] of group.values) values.set(key, [...(values.get(key) ?? []), point]);
    const others = { values: merged(values, aggregate) };
    named.push({ at: -1, text: besides(`${REST[aggregate]} (${rest.length})`, named.map((group) => group.text), rest), cut: cutOf(rest), ...others, ...totalOf(others, view) });
  }
  return { groups: named, notes };
}

class Bars {
  constructor(parts) {
    Object.assign(this, parts);
    this.share = this.view.stack === "share";
    this.spans = this.#spans();
  }

  /** Where each bar begins and ends. The result has one list for each group, and in it one entry for each series. */
  #spans() {
    const { view, groups, shown } = this;
    if (!view.stack) return groups.map((group) => shown.map(({ key }) => this.#span(group, key, 0, group.values.get(key)?.y ?? null)));
    return groups.map((group) => {
      const amounts = shown.map(({ key }) => group.values.get(key)?.y ?? null);
      return stacked(amounts, this.share).map(({ low, high }, layer) => this.#span(group, shown[layer].key, low, high));
    });
  }

  #span(group, key, low, high) {
    const point = group.values.get(key);
    return { low, high, key, rows: rowsOf(point), amount: point?.value ?? null };
  }

  domain(count) {
    if (this.share) return { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1] };
    const values = this.spans.flat().flatMap(({ low, high }) => (high === null ? [] : [low, high]));
    if (this.view.reference) values.push(this.view.reference.value);
    return valueDomain(values, { count, way: this.way });
  }

  /**
   * Whether to draw a line for a value of 0, to distinguish it from a missing value. In a stack, only the first 0 gets a line, and only if
   * the whole stack is 0.
   */
  isNought(span, spans) {
    const isZero = ({ amount }) => number(amount) === 0;
    return this.view.stack ? span === spans.find(isZero) && spans.every(({ low, high }) => high === null || high === low) : isZero(span);
  }

  bands(start, end, thickest) {
    const step = (end - start) / Math.max(1, this.groups.length);
    const sides = this.view.stack ? 1 : Math.max(1, this.shown.length);
    const width = Math.min(step * BAND, thickest * sides);
    const middle = (place) => start + step * (place + 0.5);
    return { step, width, at: (place) => middle(place) - width / 2, middle, side: width / sides };
  }

  /** `boxOf` makes a bar's box from its place and thickness in the band, and from its beginning and length along the values. */
  drawBars(root, bands, scale, boxOf) {
    this.bars = this.spans.map((spans, place) => {
      const cut = this.groups[place].cut ? " cut" : "";
      return spans.map((span, layer) => {
        const at = bands.at(place) + (this.view.stack ? 0 : layer * bands.side);
        const draw = (from, to, kind) => bar(root, boxOf(at, bands.side, Math.min(from, to), Math.abs(to - from)), this.shown[layer], kind);
        if (this.isNought(span, spans)) return draw(scale(0) - NOUGHT / 2, scale(0) + NOUGHT / 2, "nought");
        return span.high === null || span.high === span.low ? NO_BAR : draw(scale(span.low), scale(span.high), `bar${cut}`);
      });
    });
  }

  stop(place, position) {
    const { formats } = this.options;
    const spans = this.spans[place];
    const write = ({ amount, low, high }) => {
      const text = formats.measured(amount, this.way);
      return this.share && amount !== null && high !== null ? `${formats.share(high - low)} (${text})` : text;
    };
    return {
      ...position,
      parts: spans.map(({ key, rows }, layer) => ({ key, rows, ...this.bars[place][layer] })),
      title: () => this.groups[place].text,
      items: () => spans.map((span, layer) => ({ name: this.shown[layer].name, color: this.shown[layer].color, text: write(span) })),
    };
  }

  /** `cut`: whether a name is not shown completely. */
  chart(root, stops, cut) {
    return { svg: root, series: this.series, stops, plot: this.plot, ends: null, zoom: null, by: this.by, notes: this.notes, cut };
  }
}

class StandingBars extends Bars {
  draw() {
    const { options, view, groups } = this;
    const { domain, ticks } = this.domain(4);
    const labels = labelled(ticks, this.share ? { format: "percent" } : this.way, options.formats);
    const reference = referenceText(view.reference, this.way, options);
    const size = belowLegend(options, this.series);
    this.plot = plotOf(size, { left: labels.map(({ text }) => text), right: reference.margin, above: reference.above });
    const { left, top, width } = this.plot;
    this.x = this.bands(left, left + width, THICKEST);
    const names = this.#names();
    this.plot.height -= LINE_HEIGHT * (Math.max(1, ...names.map(({ lines = [] }) => lines.length)) - 1);
    this.y = linear(domain, [top + this.plot.height, top]);
    const root = canvas(size, "bar");
    drawValueAxis(root, labels, this.y, this.plot);
    drawBottomAxis(root, names, this.x.middle, this.plot, options.width, this.#written);
    this.drawBars(root, this.x, this.y, (x, width, y, height) => ({ x, y, width, height }));
    if (view.reference) drawReference(root, levelOf(view.reference, this.y, this.plot), this.plot, reference);
    const stops = groups.map((_, place) => this.stop(place, { x: this.x.middle(place), y: this.#top(place) }));
    const lacks = names.length < groups.length;
    return { ...this.chart(root, stops, lacks || (!this.#written && names.some(({ at, text, lines = [text] }) => !isWhole(lines, groups[at].text)))), lacks };
  }

  get #written() {
    const { by, groups, inTime } = this;
    return by.short && ((places) => places.map((at, place) => ({ at, text: groups[at].at < 0 ? groups[at].text : by.short(groups[at].at, inTime ? groups[places[place - 1]]?.at : undefined) })));
  }

  #names() {
    if (this.#written) return bandTicks(this.groups, this.x.step, this.#written);
    const texts = this.groups.map(({ text }) => text);
    return wrappedTicks(texts, this.x.step) || bandTicks(texts, this.x.step);
  }

  #top(place) {
    return Math.min(...this.spans[place].map(({ low, high }) => this.y(Math.max(low, high ?? 0))), this.plot.top + this.plot.height);
  }
}

/**
 * Horizontal bars have more room for long names. The number is at the right of its bar, so the chart needs no axis. This is also so for a
 * bar below 0, whose number would take room from the names at its left.
 */
class LyingBars extends Bars {
  draw() {
    const { options, groups } = this;
    const named = this.shown.length === 1 || (this.view.stack && !this.share);
    const amounts = groups.map(({ exact }) => (named ? options.formats.fitting(exact, this.way, (text) => textWidth(text) < options.width * MOST_AMOUNT) : ""));
    const right = 12 + Math.max(0, ...amounts.map(textWidth));
    const size = belowLegend(options, this.series);
    const most = (size.height - 4) / Math.max(1, groups.length);
    const names = this.#names(options.width - right - SHORTEST_LYING, most);
    const step = Math.min(most, Math.max(THICKEST_LYING + 10, LINE_HEIGHT * Math.max(...names.map(({ length }) => length)) + 4));
    const height = step * Math.max(1, groups.length);
    const reference = referenceText(this.view.reference, this.way, options, true);
    const top = reference.above ? LINE_HEIGHT + 4 : 2;
    this.plot = { ...plotOf(size, { left: names.flat(), right, bottom: false }), top, height };
    this.x = linear(this.#exact(), [this.plot.left, this.plot.left + this.plot.width]);
    this.y = this.bands(this.plot.top, this.plot.top + this.plot.height, THICKEST_LYING);
    const root = canvas({ width: options.width, height: top + height + 2 }, "bar lying");
    root.append(svg("line", { class: "grid zero", ...this.#across(0) }));
    this.drawBars(root, this.y, this.x, (y, height, x, width) => ({ x, y, width, height }));
    if (reference.above) drawReference(root, this.#across(this.view.reference.value), this.plot, reference);
    groups.forEach((_, place) => this.#label(root, names[place], amounts[place], place));
    const stops = groups.map((_, place) => this.stop(place, { x: this.#end(place), y: this.y.middle(place) }));
    return { ...this.chart(root, stops, step < LINE_HEIGHT), lying: true };
  }

  /**
   * Names take a share of the width, or more if they would look alike otherwise. Times are never cut: if they are too wide, each omits the
   * part that the time above it shows.
   */
  #names(room, step) {
    const { groups, by, options } = this;
    const texts = groups.map(({ text }) => text);
    if (by.short) {
      const short = groups.map(({ at, text }, place) => (at < 0 ? text : by.short(at, groups[place - 1]?.at)));
      return sideNames(Math.max(...texts.map(textWidth)) > room ? short : texts, room, 0);
    }
    const found = SHARES.map((share) => sideNames(texts, Math.min(options.width * share, room), step));
    const isApart = (names) => new Set(names.map(String)).size === new Set(texts).size;
    return found.find((names) => names.every((lines, place) => isWhole(lines, texts[place]))) ?? found.find(isApart) ?? sideNames(texts, room, step);
  }

  /** Without an axis, the longest bar may reach the end of the plot. */
  #exact() {
    if (this.share) return this.domain(4).domain;
    const ends = this.spans.flat().flatMap(({ low, high }) => [low, high ?? 0]);
    if (this.view.reference) ends.push(this.view.reference.value);
    const exact = [Math.min(0, ...ends), Math.max(0, ...ends)];
    return exact[0] === exact[1] ? [0, 1] : exact;
  }

  #end(place) {
    return this.x(Math.max(0, ...this.spans[place].map(({ low, high }) => Math.max(low, high ?? 0))));
  }

  #label(root, name, amount, place) {
    const y = this.y.middle(place).toFixed(1);
    drawSideName(root, name, this.plot, this.y.middle(place));
    if (amount) root.append(svg("text", { class: "label value", x: (this.#end(place) + 6).toFixed(1), y, dy: "0.32em" }, amount));
  }

  #across(value) {
    const x = crisp(this.x(value));
    return { x1: x, x2: x, y1: this.plot.top, y2: this.plot.top + this.plot.height };
  }
}

/** Draws one bar. Returns its mark and its box. */
function bar(root, box, { color, key }, kind) {
  const { x, y, width, height } = box;
  const side = Math.max(0.5, width);
  const tall = Math.max(0.5, height);
  const of = (value) => value.toFixed(2);
  const mark = svg("rect", { class: `mark ${kind} series-${color}`, "data-series": key, x: of(x), y: of(y), width: of(side), height: of(tall) });
  root.append(mark);
  return { marks: [mark], box };
}
