// Shows the SQL that the engine gets, and its parameters with their origin.

import { html } from "../../dashboards/dom.js";

const HEADS = ["Placeholder", "Variable", "Type", "Value", "Origin"];

/** @param {import("../../dashboards/values.js").Formats} formats */
export function boundSql(formats) {
  const element = html("div", { class: "bound" });

  function row({ placeholder, path, type, value, origin }) {
    const text = value === null || value === undefined ? "NULL" : typeof value === "string" ? value : JSON.stringify(value);
    const cells = [placeholder, path, type, text, origin].map((each, place) => html(place ? "td" : "th", { scope: place ? null : "row" }, html("code", {}, each ?? "")));
    return html("tr", {}, ...cells);
  }

  return {
    element,
    /** @param {{sql: string | null, parameters?: any[], guards?: any, limits?: any, error?: any} | null | undefined} about */
    show(about) {
      if (!about) return element.replaceChildren(html("p", { class: "hint" }, "Choose a group to see the SQL that its database gets."));
      if (!about.sql) return element.replaceChildren(html("p", { class: "hint" }, about.error?.message ?? "This text is no query yet."));
      const parameters = about.parameters ?? [];
      const table = html(
        "div",
        { class: "table" },
        html("table", {}, html("caption", { class: "visually-hidden" }, "Parameters"), html("thead", {}, html("tr", {}, ...HEADS.map((each) => html("th", { scope: "col" }, each)))), html("tbody", {}, ...parameters.map(row))),
      );
      element.replaceChildren(...[html("pre", { tabindex: "0", "aria-label": "Bound SQL" }, about.sql), parameters.length ? table : html("p", { class: "hint" }, "The query has no parameters."), ...notes(about, formats)].filter(Boolean));
    },
  };
}

/** Lists each guarded table with the condition of its guard, and the limits of a run. */
function notes({ guards = [], limits = {} }, formats) {
  const { rows, bytes, seconds } = limits;
  const said = [
    rows && `${formats.text(rows, { type: "integer" })} rows`,
    bytes && formats.text(bytes, { format: "bytes", digits: 0 }),
    seconds && formats.text(seconds, { format: "duration" }),
  ].filter(Boolean);
  return [
    ...guards.map(({ table, condition }) => html("p", { class: "count" }, html("code", {}, table), condition === null ? ": shared by all groups" : condition ? ": guarded, " : ": guarded", condition && html("code", {}, condition))),
    said.length > 0 && html("p", { class: "count" }, `At most ${said.join(", ")}`),
  ];
}
