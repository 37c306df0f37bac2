// A heat map: one shaded cell for each pair of values of two columns.

import { difference, number } from "../numbers.js";
import { html, svg } from "../dom.js";
import { bandTicks, canvas, drawBottomAxis, drawSideName, LINE_HEIGHT, plotOf, sideNames } from "./axes.js";
import { LEFT_OUT } from "./buckets.js";
import { dimension } from "./dimension.js";
import { isWhole } from "./measure.js";
import { lost, note } from "./series.js";
import { daysOf, weekdays } from "./weekdays.js";

const TALLEST = 64;
/** Maximum number of lines of names that make a chart taller. If there are more, some lines have no name. */
const MOST_NAMES = 60;

/**
 * @param {any} view
 * @param {import("./rows.js").Rows} rows
 * @param {import("./index.js").Options} options
 * @returns {import("./index.js").Chart}
 */
export function draw(view, rows, options) {
  const [across, down] = [view.by, view.rows].map((name) => inOrder(dimension(rows, name, options.formats, options.when, "size")));
  const values = rows.values(view.heatmap);
  const amounts = values.map(number);
  const way = rows.way(options.formats, [view.heatmap], view);
  const shade = shades(amounts, view.diverging);
  const size = { ...options, height: options.height - options.legend };
  const lines = down.order.length;
  const height = Math.max(Math.min(plotOf(size, {}).height, lines * TALLEST), down.sized || lines > MOST_NAMES ? 0 : lines * LINE_HEIGHT);
  const every = Math.ceil((LINE_HEIGHT * down.order.length) / height);
  const written = (place, line) => down.short?.(place, down.order[line - every]) ?? down.text(place);
  const texts = down.order.map((place, line) => (line % every ? "" : written(place, line)));
  const narrow = sideNames(texts, options.width * 0.3, height / down.order.length);
  const names = narrow.every((lines, line) => isWhole(lines, texts[line])) ? narrow : sideNames(texts, options.width * 0.4, height / down.order.length);
  const plot = { ...plotOf(size, { left: names.flat() }), height };
  const cell = { width: plot.width / Math.max(1, across.order.length), height: plot.height / Math.max(1, down.order.length) };
  const root = canvas({ width: options.width, height: plot.top + plot.height + 24 }, "heatmap");
  const at = (row) => ({ column: across.order.indexOf(across.positions[row]), line: down.order.indexOf(down.positions[row]) });
  const taken = new Set();
  const without = [];
  const week = weekdays(options.formats.locale);
  const stops = amounts.flatMap((amount, row) => {
    if (Number.isNaN(amount)) return [];
    const { column, line } = at(row);
    if (column < 0 || line < 0) {
      without.push({ x: NaN, y: amount });
      return [];
    }
    taken.add(`${column} ${line}`);
    const [name, other] = [down.positions[row], across.positions[row]];
    const [days, others] = [daysOf(week.get(down.names[name])), daysOf(week.get(across.names[other]))];
    const cut = across.cut(other, days) || down.cut(name, others);
    const mark = drawCell(root, plot, cell, column, line, shade.fill(amount), cut);
    const place = { x: plot.left + (column + 0.5) * cell.width, y: plot.top + (line + 0.5) * cell.height, column, line };
    const title = () => `${down.text(name, others)}, ${across.text(other, days)}`;
    return [{ ...place, parts: [{ rows: [row], marks: [mark] }], title, items: () => [{ name: "", text: options.formats.measured(values[row], way) }] }];
  });
  const shared = note(stops.length - taken.size, "value is under another one in its cell.", "values are under another one in their cell.", options.formats);
  const notes = [lost(without, options.formats), shared, [across, down].some(({ buckets }) => buckets?.some) && LEFT_OUT];
  stops.sort((a, b) => a.line - b.line || a.column - b.column);
  names.forEach((lines, line) => texts[line] && drawSideName(root, lines, plot, plot.top + (line + 0.5) * cell.height));
  const anew = across.short && ((columns) => columns.map((at, place) => ({ at, text: across.short(across.order[at], across.order[columns[place - 1]]) })));
  const ticks = bandTicks(across.order.map((place) => across.text(place)), cell.width, anew);
  drawBottomAxis(root, ticks, (place) => plot.left + (place + 0.5) * cell.width, plot, options.width, anew);
  return { svg: root, series: [], stops, plot, ends: null, zoom: null, nearest: "point", cell, notes, key: keyOf(shade, (amount) => options.formats.text(exactly(amount, amounts, values), way)) };
}

/** The exact value at an end of the scale. If the scale is symmetric, it may be the negation of a value. */
function exactly(amount, amounts, values) {
  const row = amounts.indexOf(amount);
  return row < 0 ? difference(0, values[amounts.indexOf(-amount)] ?? -amount) : values[row];
}

/** Numbers and times in the order of their size, names in the order of the rows. */
function inOrder(by) {
  const places = by.names.map((_, place) => place);
  return { ...by, order: by.sized ? places.sort(by.compare) : places };
}

/** Mixes two or three colours of the stylesheet in CSS, so that light mode, dark mode and paper need no separate drawing. */
function shades(amounts, diverging) {
  const known = amounts.filter((amount) => !Number.isNaN(amount));
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const mixed = (from, to, share) => `color-mix(in oklab, var(--${from}), var(--${to}) ${(share * 100).toFixed(1)}%)`;
  if (diverging) {
    const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return { low: -far, high: far, fill: (amount) => mixed("signed-middle", amount < 0 ? "signed-low" : "signed-high", Math.abs(amount) / far) };
  }
  const span = high - low || 1;
  const fill = (amount) => {
    const share = (amount - low) / span;
    return share < 0.5 ? mixed("magnitude-low", "magnitude-middle", share * 2) : mixed("magnitude-middle", "magnitude-high", share * 2 - 1);
  };
  return { low, high, fill };
}

function drawCell(root, plot, cell, column, line, fill, cut) {
  const gap = cell.width > 8 && cell.height > 8 ? 1 : 0;
  const mark = svg("rect", {
    class: `mark cell${cut ? " cut" : ""}`,
    x: (plot.left + column * cell.width + gap / 2).toFixed(2),
    y: (plot.top + line * cell.height + gap / 2).toFixed(2),
    width: Math.max(0.5, cell.width - gap).toFixed(2),
    height: Math.max(0.5, cell.height - gap).toFixed(2),
  });
  mark.style.fill = fill;
  root.append(mark);
  return mark;
}

/** The legend of the shades: the lowest and the highest value, and the shades between them. */
function keyOf(shade, write) {
  if (!Number.isFinite(shade.low)) return null;
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const swatch = html("span", { class: "shade" });
    swatch.style.background = shade.fill(shade.low + share * (shade.high - shade.low));
    return swatch;
  });
  return html("div", { class: "key" }, write(shade.low), html("span", { class: "shades" }, ...steps), write(shade.high));
}
