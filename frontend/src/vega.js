// One Vega-Lite chart: expressions are interpreted and never compiled, so that a strict Content-Security-Policy holds;
// nothing is ever fetched.

import { View, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";

import { numbers, times } from "./locale.js";
import { Rows } from "./dashboards/charts/rows.js";
import { isNumeric } from "./dashboards/numbers.js";
import { theme } from "./theme.js";

const refuse = () => Promise.reject(new Error("a chart holds its own data and fetches nothing"));
const NO_LOADING = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

/** The rows as objects. Vega takes numbers alone: those that come as texts become the nearest double. */
function recordsOf({ columns, rows }) {
  const numeric = columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name);
  const table = new Rows(columns, rows);
  return rows.map((_, row) => {
    const record = table.record(row);
    for (const name of numeric) if (typeof record[name] === "string") record[name] = Number(record[name]);
    return record;
  });
}

/**
 * @param {HTMLElement} holder whose content it replaces
 * @param {any} definition a Vega-Lite specification without its data
 * @param {{columns: import("./dashboards/charts/rows.js").Column[], rows: any[][]}} data
 * @param {{width: number, height: number, locale: string, currency: string | null}} options CSS pixels; BCP 47; ISO 4217
 * @returns {View} which its owner ends by `finalize`
 */
export function draw(holder, definition, data, { width, height, locale, currency }) {
  const specification = { autosize: { type: "fit", contains: "padding" }, height, ...definition, data: { values: recordsOf(data) }, width };
  const { spec } = compile(specification, { config: theme(holder) });
  const view = new View(parse(spec, null, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    loader: NO_LOADING,
    locale: { number: numbers(locale, currency), time: times(locale) },
  });
  view.description(definition.description ?? "");
  holder.replaceChildren();
  return view.initialize(holder).run();
}
