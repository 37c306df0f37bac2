// One Vega-Lite chart: expressions are interpreted and never compiled, so that a strict Content-Security-Policy holds;
// nothing is ever fetched.

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

/**
 * @param {HTMLElement} holder whose content it replaces
 * @param {any} definition a Vega-Lite specification without its data
 * @param {{columns: import("./dashboards/charts/rows.js").Column[], rows: any[][]}} data
 * @param {{width: number, height: number, formats: import("./dashboards/values.js").Formats, colorsOf: (column: string, names: any[]) => (number | string)[]}} options
 *   CSS pixels; `colorsOf`: as `SeriesColors.of`
 * @returns {View} which its owner ends by `finalize`
 */
export function draw(holder, definition, data, { width, height, formats, colorsOf }) {
  const table = new Rows(data.columns, data.rows);
  const records = recordsOf(table, definition);
  const specification = { autosize: { type: "fit", contains: "padding" }, height, ...said(colored(definition, records, table, colorsOf), table), data: { name: DATA }, width };
  const { spec } = compile(specification, { config: { ...theme(holder), ...WRITES } });
  const whole = inGuides(spec);
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
  return view.initialize(holder).run();
}
