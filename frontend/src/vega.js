// One Vega-Lite chart: expressions are interpreted and never compiled, so that a strict Content-Security-Policy holds;
// nothing is ever fetched.

import { View, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";

import { numbers, times } from "./locale.js";
import { theme } from "./theme.js";

const refuse = () => Promise.reject(new Error("a chart holds its own data and fetches nothing"));
const NO_LOADING = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

/**
 * @param {HTMLElement} holder whose content it replaces
 * @param {any} definition a Vega-Lite specification with its data in it
 * @param {{width: number, height: number, locale: string, currency: string | null}} options CSS pixels; BCP 47; ISO 4217
 * @returns {View} which its owner ends by `finalize`
 */
export function draw(holder, definition, { width, height, locale, currency }) {
  const specification = { autosize: { type: "fit", contains: "padding" }, height, ...definition, width };
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
