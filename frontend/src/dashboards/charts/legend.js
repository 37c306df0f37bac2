// The legend of a chart: a button for each series, which hides the series or shows it again.

import { html } from "../dom.js";

/** Whether to show the names of the series: if there are several, or if the only one is a value of a column, because no title names it. */
export function hasLegend(series) {
  return series.length > 1 || Boolean(series[0]?.isValue);
}

/**
 * @param {import("./index.js").Chart} chart
 * @param {(key: string) => void} toggle
 * @returns {HTMLElement | null} null if there is nothing to distinguish
 */
export function legendOf(chart, toggle) {
  if (!hasLegend(chart.series)) return null;
  const items = chart.series.map((series) => html("li", {}, button(series, toggle)));
  const list = html("ul", { class: `legend${chart.beside ? " beside" : ""}${chart.ends ? " at-ends" : ""}` }, ...items);
  for (const { key, x, y } of chart.ends ?? []) {
    const item = items[chart.series.findIndex((series) => series.key === key)];
    item.style.left = `${x}px`;
    item.style.top = `${y}px`;
  }
  return list;
}

function button({ key, name, short = name, color, hidden, note }, toggle) {
  return html(
    "button",
    { type: "button", class: "legend-item", "aria-pressed": String(!hidden), "data-key": key, click: () => toggle(key) },
    html("span", { class: `swatch series-${color}` }),
    html("span", { class: "legend-name", dir: "auto", title: name }, short),
    note ? html("span", { class: "legend-note" }, note) : null,
  );
}
