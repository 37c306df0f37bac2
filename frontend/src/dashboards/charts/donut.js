// A donut chart: parts of a whole as a ring, with the whole in the middle and a legend of names, values and shares.

import { number, sum } from "../numbers.js";
import { svg } from "../dom.js";
import { canvas } from "./axes.js";
import { keyOf, LAST } from "./colors.js";
import { dimension } from "./dimension.js";
import { shortened, shortenedAll, textWidth } from "./measure.js";
import { round } from "./paths.js";
import { besides, REST } from "./series.js";
import { adds } from "./together.js";

/** Maximum number of slices next to "Other", unless the author sets a limit. With this number, each slice has its own colour. */
const MOST = 7;
/** The inner radius, as a share of the side of the square around the ring. */
const INNER = 0.32;
/** How the whole may be written, and its width in each form, relative to a label of an axis. */
const SIZES = [{ kind: "", wide: 1.85 }, { kind: " small", wide: 1.3 }];
const SMALLEST = 180;
const LARGEST = { beside: 260, below: 300 };
/**
 * Heights, in pixels, of a name in the legend below the ring, of each further line of a name, and of the gap above the legend. Ring and
 * legend together must fit the height of the panel.
 */
const LEGEND_LINE = 24;
const FURTHER_LINE = 16;
/** Maximum lines of a name in the legend. The stylesheet has the same number. */
const MOST_LINES = 3;
/** Pixels that the colour and the share of an entry of the legend take next to its name. */
const BESIDE_NAME = 72;
const WIDEST_LEGEND = 280;
/** The share of its lines that a wrapped text fills, because lines break between words. */
const FILLED = 0.7;
/** The width of a legend next to the ring, as a share of the ring's width. */
const LEGEND_BESIDE = 1.1;
const LEGEND_GAP = 12;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function draw(view, rows, options) {
  const amounts = rows.values(view.donut).map(number);
  if (!adds(view)) return { refused: "These values do not add up, so they are not parts of a whole." };
  if (amounts.some((amount) => amount < 0)) return { refused: "Some values are below 0, so they are not parts of a whole." };
  const slices = slicesOf(view, rows, options);
  const shown = slices.filter((each) => !each.hidden);
  const whole = sum(shown.flatMap(({ values }) => values)) ?? 0;
  const total = number(whole);
  const way = rows.way(options.formats, [view.donut], view);
  const { names, height } = legendNames(slices, options);
  const below = options.beside ? 0 : height;
  const side = Math.max(options.beside ? 0 : SMALLEST, Math.min(LARGEST[options.beside ? "beside" : "below"], options.height - below, options.width));
  const root = canvas({ width: side, height: side }, "donut");
  const group = svg("g", { transform: `translate(${side / 2} ${side / 2})` });
  const radii = [side / 2 - 3, side * INNER];
  const scale = (2 * Math.PI) / sizeOf(shown);
  const stops = shown.map((slice, place) => {
    const from = sizeOf(shown.slice(0, place)) * scale;
    const to = from + slice.amount * scale;
    const mark = svg("path", { class: `mark slice series-${slice.color}`, "data-series": slice.key, d: ringPath(from, to, ...radii) });
    group.append(mark);
    const [x, y] = pointAt((from + to) / 2, (radii[0] + radii[1]) / 2);
    return stopOf(slice, { x: x + side / 2, y: y + side / 2 }, mark, total, way, options.formats);
  });
  group.append(middleOf(whole, way, side * INNER * 2 - LEGEND_GAP, options.formats));
  root.append(group);
  for (const [place, slice] of slices.entries()) {
    slice.isValue = true;
    slice.short = names[place];
    slice.note = slice.hidden ? "" : shareOf(slice, total, options.formats, 0);
  }
  return { svg: root, series: slices, stops, plot: { left: 0, top: 0, width: side, height: side }, ends: null, zoom: null, beside: true };
}

/** The names of the legend, on up to three lines or on fewer if the legend would be too tall, and its height. */
function legendNames(slices, options, most = MOST_LINES) {
  const { beside, width } = options;
  const line = (beside ? Math.min(WIDEST_LEGEND, width * LEGEND_BESIDE) : width) - BESIDE_NAME;
  const room = line * (most > 1 ? most * FILLED : 1);
  const cut = shortenedAll(slices.map(({ name }) => name), room);
  // Leave a name whole if the stylesheet can cut it at its end, because the stylesheet knows better where lines break. Only names that
  // would then look alike are shortened here.
  const names = slices.map(({ name }, place) => (most === MOST_LINES && cut[place] === shortened(name, room) ? name : cut[place]));
  const further = cut.filter((name) => textWidth(name) > line).reduce((total, name) => total + Math.ceil(textWidth(name) / line / FILLED) - 1, 0);
  const height = slices.length * LEGEND_LINE + further * FURTHER_LINE + LEGEND_GAP;
  const fits = beside || most === 1 || height <= options.height - SMALLEST;
  return fits ? { names, height } : legendNames(slices, options, most - 1);
}

function sizeOf(slices) {
  return slices.reduce((size, { amount }) => size + amount, 0);
}

/**
 * The outline of a slice, clockwise from the top. An arc of more than half a turn is drawn as two arcs, because the two ends of a single
 * arc may be the same point.
 */
function ringPath(from, to, outer, inner) {
  const turns = to - from > Math.PI ? [from, (from + to) / 2, to] : [from, to];
  const arc = (radius, sweep, angles) => angles.map((angle, place) => `${place ? `A${radius},${radius},0,0,${sweep},` : ""}${pointAt(angle, radius)}`).join("");
  return `M${arc(outer, 1, turns)}L${arc(inner, 0, turns.reverse())}Z`;
}

function pointAt(angle, radius) {
  return [round(radius * Math.sin(angle), 2), round(-radius * Math.cos(angle), 2)];
}

/** The total in the middle of the ring. If it does not fit, it is written smaller, and then in a shorter form. */
function middleOf(whole, way, room, formats) {
  const forms = [formats.text(whole, way), formats.short(whole, way)].flatMap((text) => SIZES.map(({ kind, wide }) => ({ text, kind, wide })));
  const { text, kind } = forms.find((form) => textWidth(form.text) * form.wide <= room) ?? forms.at(-1);
  const exact = formats.whole(whole, way);
  return svg("text", { class: `total middle${kind}`, dy: "0.35em" }, text, exact === text ? null : svg("title", {}, exact));
}

function slicesOf(view, rows, { colors, hidden, formats, when }) {
  const by = dimension(rows, view.by, formats, when, "rows");
  const sums = by.names.map((value, place) => ({ value, place, key: keyOf(value), name: by.text(place), cut: by.cut(place), amount: 0, values: [], rows: [] }));
  rows.values(view.donut).forEach((value, row) => {
    const slice = sums[by.positions[row]];
    slice.values.push(value);
    slice.rows.push(row);
  });
  for (const slice of sums) slice.amount = number(sum(slice.values) ?? 0);
  const sort = view.sort ?? "largest";
  if (sort === "largest") sums.sort((a, b) => b.amount - a.amount);
  if (sort === "smallest") sums.sort((a, b) => a.amount - b.amount);
  if (sort === "name") sums.sort((a, b) => by.compare(a.place, b.place));
  const most = view.limit ?? MOST;
  const slices = sums.length > most + 1 ? [...sums.slice(0, most), rest(sums.slice(most), sums.slice(0, most))] : sums;
  const found = colors.of(view.by, slices.filter((slice) => !slice.rest).map(({ value }) => value), view.colors, by.names);
  return slices.map((slice, place) => ({ ...slice, color: slice.rest ? LAST : found[place], hidden: slices.length > 1 && hidden.has(slice.key) }));
}

function rest(slices, kept) {
  const values = slices.flatMap((slice) => slice.values);
  return { value: null, key: REST, name: besides(`Other (${slices.length})`, kept.map((slice) => slice.name), slices), amount: number(sum(values) ?? 0), values, rows: slices.flatMap(({ rows }) => rows), rest: true };
}

function shareOf({ amount, values }, total, formats, digits) {
  return sum(values) === null ? formats.text(null) : formats.share(amount / (total || 1), digits);
}

function stopOf(slice, place, mark, total, way, formats) {
  return {
    ...place,
    parts: [{ rows: slice.rows, marks: [mark] }],
    title: () => slice.name,
    items: () => [
      { name: "", color: slice.color, text: formats.measured(sum(slice.values), way) },
      { name: "Share", text: shareOf(slice, total, formats) },
    ],
  };
}
