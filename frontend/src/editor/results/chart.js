// A quick chart of the rows, with the drawing code of dashboards.

import { freshId, html, icon } from "../../dashboards/dom.js";
import { load } from "../../dashboards/chunks.js";
import { isNumeric } from "../../dashboards/numbers.js";
import { TIMES } from "./add_panel.js";

/** Maximum rows of a chart, by its kind. */
const MOST = { bar: 200, line: 5_000 };

/** @param {import("../../dashboards/values.js").Formats} formats */
export function chart(formats) {
  const kind = select("Kind", [["bar", "Bars"], ["line", "Line"]], draw);
  const by = select("By", [], draw);
  const measure = select("Of", [], draw);
  const place = html("div", { class: "quick-chart" });
  const controls = html("div", { class: "chart-controls" }, kind.element, by.element, measure.element);
  const element = html("div", {}, controls, place);
  let run = null;
  let columns = "";
  let view = null;
  new ResizeObserver(() => view?.fit(place.clientWidth)).observe(place);

  function fill() {
    const key = JSON.stringify(run.columns);
    if (key === columns) return;
    columns = key;
    const names = run.columns.map(({ name }) => [name, name]);
    const numeric = run.columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name);
    const along = run.columns.find(({ type }) => !isNumeric(type))?.name ?? names[0]?.[0];
    by.fill(names, along);
    measure.fill(numeric.map((name) => [name, name]), numeric.find((name) => name !== along) ?? numeric[0]);
    kind.set(TIMES.includes(run.columns.find(({ name }) => name === along)?.type) ? "line" : "bar");
  }

  async function draw() {
    if (element.closest("[hidden]") || !run?.done) return;
    if (!measure.value) return say("A chart needs a column of numbers.");
    const shown = run;
    try {
      const { chartOf } = await load("editor_chart.js");
      if (shown !== run) return;
      view = chartOf({ kind: kind.value, [kind.value]: [measure.value], by: by.value }, formats);
      const rows = run.rows.slice(0, MOST[kind.value]);
      const cut = rows.length < run.rows.length && html("p", { class: "chart-note" }, `The first ${rows.length} of ${run.rows.length} rows are drawn.`);
      place.replaceChildren(...[cut, view.show({ columns: run.columns, rows })].filter(Boolean));
      view.fit(place.clientWidth);
    } catch {
      say("The chart could not be loaded. Please try again.");
    }
  }

  function say(text) {
    view = null;
    place.replaceChildren(html("p", { class: "hint" }, text));
  }

  return {
    element,
    shown: draw,
    show(now) {
      run = now?.error ? null : now;
      controls.hidden = !run?.columns.length;
      if (!run?.columns.length) return say("Run the query to draw its rows.");
      fill();
      draw();
    },
  };
}

function select(label, choices, change) {
  const id = freshId("chart");
  const input = html("select", { id, change });
  const fill = (all, value) => {
    input.replaceChildren(...all.map(([each, words]) => html("option", { value: each }, words)));
    if (value !== undefined) input.value = value;
  };
  fill(choices);
  return {
    element: html("div", { class: "control" }, html("label", { for: id }, label), html("span", { class: "select" }, input, icon("down"))),
    fill,
    set: (value) => (input.value = value),
    get value() {
      return input.value;
    },
  };
}
