// The SQL that the engine gets, with its parameters and where they come from.

import { html } from "../../dashboards/dom.js";

const HEADS = ["Placeholder", "Variable", "Type", "Value", "Origin"];

export function boundSql() {
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
      element.replaceChildren(...[html("pre", { tabindex: "0", "aria-label": "Bound SQL" }, about.sql), parameters.length ? table : html("p", { class: "hint" }, "The query has no parameters."), ...notes(about)].filter(Boolean));
    },
  };
}

function notes({ guards, tables, limits }) {
  const guarded = (guards ?? tables ?? []).map((each) => each.name ?? each);
  const said = limits && typeof limits === "object" ? Object.entries(limits).filter(([, value]) => value !== null).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`) : [];
  return [
    guarded.length > 0 && html("p", { class: "count" }, `Guarded: ${[...new Set(guarded)].join(", ")}`),
    said.length > 0 && html("p", { class: "count" }, `Limits: ${said.join(", ")}`),
  ];
}
