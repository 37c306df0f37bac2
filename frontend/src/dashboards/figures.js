// A key figure: the number, its change in words, and its history as a small line.

import { rangeLabel } from "./controls/presets.js";
import { drawSparkline } from "./charts/sparkline.js";
import { Rows, whenOf } from "./charts/rows.js";
import { html, icon, writeShort } from "./dom.js";
import { compare, number } from "./numbers.js";

/** The sizes of the number as CSS classes, the largest first. The smallest is used only for a number in its short form. */
const SIZES = ["", "size-5", "size-4", "size-3"];

export class FigureView {
  #parts;

  /**
   * @param {any} about the panel in the dashboard's definition
   * @param {import("./panels.js").Context} context
   */
  constructor(about, context) {
    this.view = about.view;
    this.context = context;
  }

  skeleton() {
    return html("div", { class: "figure" }, html("span", { class: "ghost ghost-value" }), html("span", { class: "ghost ghost-text" }));
  }

  isEmpty(data) {
    return !data.rows.length;
  }

  /** @returns {Node} */
  show(data) {
    const { formats } = this.context;
    const rows = new Rows(data.columns, data.rows);
    const name = this.view.figure;
    const [value] = rows.values(name);
    const small = data.sparkline ? drawSparkline(new Rows(data.sparkline.columns, data.sparkline.rows), name, formats, { ...whenOf(data), unit: undefined }) : null;
    const unit = this.view.unit ? html("span", { class: "figure-unit" }, ` ${this.view.unit}`) : null;
    const number = html("span", { class: "figure-number" });
    const line = html("p", { class: "figure-value" }, number, unit);
    const [passed] = data.so_far ? new Rows(data.so_far.columns, data.so_far.rows).values(name) : [value];
    const [before] = data.compare ? new Rows(data.compare.columns ?? [], data.compare.rows).values(name) : [];
    const way = formats.way({ ...this.view, name, type: rows.type(name) }, [value, passed, before].filter((each) => each !== undefined));
    const [change, shortChange] = data.compare ? ["text", "short"].map((form) => this.#change(passed, value, before, data, way, form)) : [];
    const words = change?.lastChild;
    const cut = data.rows.length > 1 ? html("p", { class: "change" }, `The first of ${formats.text(data.rows.length, { type: "integer" })} rows`) : null;
    this.#parts = { number, line, text: formats.text(value, way), short: formats.short(value, way), whole: formats.whole(value, way), change, words, said: words?.textContent, saidShort: shortChange?.lastChild.textContent };
    this.#write(false, "");
    return html("div", { class: `figure${small ? " with-line" : ""}` }, line, small, change, cut);
  }

  /**
   * Call this when the figure is on the page. If the number is too wide, it is written smaller, then in its short form, then on a line
   * above its unit.
   */
  fit() {
    if (!this.#parts) return;
    const { line, change, words, said, saidShort } = this.#parts;
    words?.replaceChildren(said);
    words?.removeAttribute("title");
    if (change?.scrollWidth > change?.clientWidth) writeShort(words, saidShort, said);
    for (const short of [false, true]) {
      for (const size of short ? SIZES : SIZES.slice(0, -1)) {
        this.#write(short, size);
        if (line.scrollWidth <= line.clientWidth) return;
      }
    }
    line.classList.add("wraps");
  }

  #write(short, size) {
    const { number, line, text, whole } = this.#parts;
    line.className = `figure-value ${size}`.trim();
    if (short) return writeShort(number, this.#parts.short, whole);
    number.title = whole === text ? "" : whole;
    number.replaceChildren(text);
  }

  /** Which days are compared with each other. */
  #dates({ shown, before, whole_dates: wholeDates }, started) {
    const [now, then] = [shown, before].map((days) => rangeLabel(days, this.context.formats));
    return `${now} against ${then}${wholeDates ? "; dates without a time are whole days" : started ? "; today is not over" : ""}`;
  }

  /** `value`: the value of the whole period. `now`: the value of the part of it that has passed. */
  #change(now, value, before, { periods, now: clock }, way, form) {
    const started = periods && clock?.slice(0, 10) === periods.shown.end;
    const title = periods ? this.#dates(periods, started) : "Against the same part of the period before";
    const { formats } = this.context;
    const so = compare(now, value) ? `${formats[form](now, way)} so far: ` : "";
    const change = (kind, good, words) => changeOf(title, kind, good, so + (so ? words[0].toLowerCase() + words.slice(1) : words));
    const when = started && periods.before.start === periods.before.end ? `on the whole of ${rangeLabel(periods.before, formats)}` : "before";
    if (Number.isNaN(number(before))) return change("same", "", "No value before");
    if (Number.isNaN(number(now))) return change("same", "", `${formats[form](before, way)} ${when}`);
    const order = compare(now, before);
    if (order === 0) return change("same", "", "As before");
    const kind = order > 0 ? "rise" : "fall";
    const good = this.view.better ? ((this.view.better === "higher") === order > 0 ? " good" : " bad") : "";
    const much = number(before) === 0 ? "" : ` ${formats.change(now, before, way, form)}`;
    return change(kind, good, `${order > 0 ? "Up" : "Down"}${much} from ${formats[form](before, way)} ${when}`);
  }
}

function changeOf(title, kind, good, words) {
  return html("p", { class: `change${good}`, title }, icon(kind), html("span", {}, words));
}
