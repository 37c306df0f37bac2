// Draws a Vega-Lite chart. Expressions are interpreted and never compiled, because a strict Content-Security-Policy forbids that. Nothing
// is ever fetched.

import { View, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";

import { Rows } from "./dashboards/charts/rows.js";
import { numbers, times } from "./locale.js";
import { theme } from "./theme.js";
import { colored } from "./vega_colors.js";
import { inGuides, recordsOf, said, TEXTS, tooltip, WRITES } from "./vega_texts.js";

const refuse = () => Promise.reject(new Error("a chart holds its own data and fetches nothing"));
const NO_LOADING = { load: refuse, sanitize: refuse, http: refuse, file: refuse };
const DATA = "rows of the query";
/** Pixels of a legend's entry in addition to its name: the symbol, and the space before the next entry. */
const AROUND_NAME = 30;
const SYMBOL = 16;
/** Minimum and maximum length of a name in pixels. The maximum is Vega's default. */
const [LEAST_NAME, MOST_NAME] = [60, 160];
const MARGIN = 12;
const LINE_HEIGHT = 14;

function* withRole(mark, role) {
  if (mark.role === role) yield mark;
  for (const item of mark.items ?? []) for (const each of item.items ?? []) yield* withRole(each, role);
}

/**
 * How to fit a legend that is wider than the chart: the number of columns, the maximum length of a name, and the height of the additional
 * lines.
 */
function linesOf({ root }, width) {
  const all = [...withRole(root, "legend")];
  const room = width + root.bounds.x1 - MARGIN; // a legend begins where the axis ends, at 0
  if (!all.some(({ bounds }) => bounds.width() > room)) return undefined;
  const names = all.flatMap((legend) => [...withRole(legend, "legend-label")]).flatMap(({ items }) => items.map(({ bounds }) => bounds.width()));
  const columns = Math.max(1, Math.floor(room / (Math.max(...names) + AROUND_NAME)));
  return { columns, labelLimit: Math.min(MOST_NAME, Math.max(LEAST_NAME, room - SYMBOL)), further: (Math.ceil(names.length / columns) - 1) * LINE_HEIGHT };
}

/**
 * @param {HTMLElement} holder the element whose content is replaced
 * @param {any} definition a Vega-Lite specification without its data
 * @param {{columns: import("./dashboards/charts/rows.js").Column[], rows: any[][]}} data
 * @param {{width: number, height: number, formats: import("./dashboards/values.js").Formats, colorsOf: (column: string, names: any[]) =>
 *   (number | string)[]}} options sizes in CSS pixels; `colorsOf`: like `SeriesColors.of`
 * @param {ReturnType<typeof linesOf>} [lines] how legends above and below the chart fit, which makes it taller
 * @returns {View} the view; the caller must end it by `finalize`
 */
export function draw(holder, definition, data, options, lines) {
  const { width, height, formats, colorsOf } = options;
  const table = new Rows(data.columns, data.rows);
  const records = recordsOf(table, definition);
  const specification = { autosize: { type: "fit", contains: "padding" }, height: height + (lines?.further ?? 0), ...said(colored(definition, records, table, colorsOf), table), data: { name: DATA }, width };
  const { spec } = compile(specification, { config: { ...theme(holder), ...WRITES } });
  const whole = inGuides(spec);
  const { columns, labelLimit } = lines ?? {};
  if (lines) for (const legend of whole.legends ?? []) if (!/left|right/.test(legend.orient)) Object.assign(legend, { columns, labelLimit, ...legend });
  whole.data.find(({ name }) => name === DATA).values = records;
  const texts = { formats, table, inUtc: JSON.stringify(definition).includes("utc") };
  const view = new View(parse(whole, null, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    loader: NO_LOADING,
    locale: { number: numbers(formats.locale, formats.currency), time: times(formats.locale) },
    tooltip: tooltip(texts),
  });
  view[TEXTS] = texts;
  view.description(definition.description ?? "");
  holder.replaceChildren();
  view.initialize(holder).run();
  const fitting = lines ? undefined : linesOf(view.scenegraph(), width);
  if (!fitting) return view;
  view.finalize();
  return draw(holder, definition, data, options, fitting);
}
