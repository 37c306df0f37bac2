// A chart in its panel. Draws it for the available width, with its legend and tooltips, or shows it as a table.

import { loaded } from "./chunks.js";
import { describe, drawChart } from "./charts/index.js";
import { legendOf } from "./charts/legend.js";
import { Reading } from "./charts/reading.js";
import { Rows, whenOf } from "./charts/rows.js";
import { html } from "./dom.js";

const HEIGHT = 260;
/** Height, in pixels, of a donut with its legend below, however many lines the legend has. The same as --plot-tall in the stylesheet. */
const TALL = 400;
const LINE = 26;
const LEGEND = 32;
const SPARSE = 3;

export class ChartView {
  #hidden = new Set();
  #domain = null;
  #reading = null;
  #asTable = false;
  #width = 0;

  /**
   * @param {any} about the panel in the dashboard's definition
   * @param {import("./panels.js").Context} context
   */
  constructor(about, context) {
    this.about = about;
    this.view = about.view;
    this.context = context;
  }

  skeleton() {
    return html("div", { class: `ghost-plot ghost-${this.view.kind}` });
  }

  isEmpty(data) {
    const rows = new Rows(data.columns, data.rows);
    const measures = [this.view[this.view.kind]].flat().filter((name) => rows.has(name));
    return !data.rows.length || (measures.length > 0 && measures.every((name) => rows.values(name).every((value) => value === null)));
  }

  get asTable() {
    return this.#asTable;
  }

  /** @returns {Node} */
  show(data) {
    this.data = data;
    this.rows = new Rows(data.columns, data.rows);
    this.#width = 0;
    const label = `${describe(this.view, this.rows, this.context.formats)}. Arrow keys read it.`;
    this.element = html("div", { class: `chart chart-${this.view.kind}`, tabindex: "0", "data-focus": "chart", role: "group", "aria-roledescription": "chart", "aria-label": label });
    return this.element;
  }

  /** Draws the chart for a width in CSS pixels, unless it is already drawn for this width. */
  fit(width) {
    if (!this.element || !width || width === this.#width) return;
    this.#width = width;
    this.#draw();
  }

  #draw() {
    this.#reading?.end();
    this.#reading = null;
    const { formats, colors } = this.context;
    const beside = !this.#asTable && this.#beside();
    this.element.classList.toggle("stands-beside", beside);
    this.element.classList.toggle(`chart-${this.view.kind}`, !this.#asTable);
    if (this.#asTable) return this.element.replaceChildren(loaded["menu_entries.js"].chartTwin(this.view, this.data, this.context.formats, this.context.title));
    const width = beside ? this.#width * 0.45 : this.#width;
    const options = { width, height: this.#height(), legend: LEGEND, beside, formats, colors, hidden: this.#hidden, domain: this.#domain, ...this.#times() };
    const chart = drawChart(this.view, this.rows, options);
    this.chart = chart;
    if (chart.refused) return this.#refuse(chart.refused);
    const legend = legendOf(chart, (key) => this.#toggle(key));
    this.element.replaceChildren(...[chart.ends ? null : legend, chart.svg, chart.ends ? legend : null, chart.key, this.#notes(), this.#whole()].filter(Boolean));
    this.#mark(chart);
    const zoom = chart.zoom && ((from, to) => this.#zoom(from, to));
    const choose = this.about.click ? (places) => this.context.choose({ data: this.data, places }) : null;
    chart.svg.classList.toggle("choosable", Boolean(choose));
    this.#reading = new Reading(this.element, chart, { announce: this.context.announce, say: this.context.say, choose, zoom });
  }

  #refuse(sentence) {
    for (const name of ["tabindex", "aria-roledescription"]) this.element.removeAttribute(name); // there is nothing to read with the keyboard
    this.element.setAttribute("aria-label", this.context.title);
    this.element.className = "chart";
    this.element.replaceChildren(html("p", { class: "panel-empty" }, sentence));
  }

  #times() {
    return { when: whenOf(this.data), reduced: this.data.reduced };
  }

  #notes() {
    const { notes = [] } = this.chart;
    return notes.length ? html("p", { class: "chart-note" }, notes.join(" ")) : null;
  }

  #beside() {
    return this.view.kind === "donut" && this.#width > 340;
  }

  #height() {
    const lines = this.view.horizontal ? this.view.by : this.view.rows;
    const count = lines ? new Set(this.rows.values(lines)).size : 0;
    const groups = this.view.horizontal ? count : 0;
    this.element.classList.toggle("sparse", count > 0 && count <= SPARSE);
    if (this.view.kind === "donut" && !this.#beside()) return TALL;
    return Math.max(HEIGHT, Math.min(groups, this.view.limit ?? groups) * LINE);
  }

  /** Dims all marks except those that the viewer has filtered by. */
  #mark(chart) {
    if (!this.about.click) return;
    const parts = chart.stops.flatMap((stop) => stop.parts).filter(({ rows }) => rows.length);
    const chosen = parts.filter(({ rows }) => rows.every((row) => this.context.isChosen(this.rows.record(row))));
    if (chosen.length === parts.length) return;
    for (const { marks } of chosen) for (const mark of marks) mark.classList.add("chosen");
    chart.svg.classList.toggle("has-chosen", chosen.length > 0);
  }

  #toggle(key) {
    if (!this.#hidden.delete(key)) this.#hidden.add(key);
    if (this.chart.series.every((series) => this.#hidden.has(series.key))) this.#hidden.clear();
    this.#draw();
    this.element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  #zoom(from, to) {
    if (this.context.zoom(from, to, this.chart.by)) return;
    this.#domain = [from, to];
    this.#draw();
  }

  #whole() {
    if (!this.#domain) return null;
    const back = () => {
      this.#domain = null;
      this.#draw();
      this.element.focus();
    };
    return html("button", { type: "button", class: "quiet-button whole", click: back }, "Show the whole range");
  }

  /** Call this when the colours of names have changed. */
  recolor() {
    if (this.chart && !this.#asTable) this.#draw();
  }

  toggleTable() {
    this.#asTable = !this.#asTable;
    this.element.setAttribute("role", "group");
    this.#draw();
  }

  /** @returns {Promise<Blob>} */
  picture() {
    return loaded["menu_entries.js"].picture(this.chart.svg, { title: this.context.title, series: this.chart.series });
  }
}
