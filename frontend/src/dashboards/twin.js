// The rows of a chart as a plain table.

import { Rows } from "./charts/rows.js";
import { html } from "./dom.js";
import { columnsOf, fade, wholeOf } from "./tables.js";

export function twinOf(data, way, formats, title) {
  const rows = new Rows(data.columns, data.rows);
  const most = 500;
  const columns = columnsOf(undefined, rows, formats).map((column) => ({ ...column, way: way[column.name] ?? column.way }));
  const heads = columns.map(({ title: text, numeric }) => html("th", { scope: "col", class: numeric ? "number" : null }, text));
  const cell = (column, row) => {
    const value = column.values[row];
    const text = formats.text(value, column.way);
    return html("td", { class: column.numeric ? "number" : "wraps", title: wholeOf(value, column, text, formats) }, html("span", { class: "cell" }, [column.numeric ? text : formats.name(value, column.way), column.way.cut?.(row)].filter(Boolean).join(", ")));
  };
  const lines = data.rows.slice(0, most).map((_, row) => html("tr", {}, ...columns.map((column) => cell(column, row))));
  const caption = html("caption", { class: "visually-hidden" }, title);
  const table = html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...lines));
  const total = data.rows.length;
  const count = `${formats.text(total, { type: "integer" })} ${total === 1 ? "row" : "rows"}`;
  const cut = [total > most && `First ${most} of ${count}.`, data.reduced && "These are the rows that the chart needs."].filter(Boolean);
  const note = html("p", { class: "count" }, cut.length ? `${cut.join(" ")} The CSV file has them all.` : count);
  const scroller = html("div", { class: "table-scroller", tabindex: "0", role: "group", "aria-label": `${title}, as a table` }, table);
  scroller.addEventListener("scroll", () => fade(scroller), { passive: true });
  const fit = () => {
    scroller.style.removeProperty("--edge");
    table.classList.remove("wide");
    table.classList.toggle("wide", scroller.scrollWidth > scroller.clientWidth);
    const last = [...table.rows].find((row) => row.offsetTop + row.offsetHeight > scroller.clientHeight); // a row may have several lines
    if (last) scroller.style.setProperty("--edge", `${last.offsetTop + 0.75 * last.offsetHeight}px`);
    fade(scroller);
  };
  new ResizeObserver(fit).observe(scroller);
  return html("div", { class: "table twin" }, scroller, html("div", { class: "table-foot" }, note));
}
