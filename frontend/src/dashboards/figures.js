// A key figure: the number, how it changed in words, and how it came to be as a small line.

import { rangeLabel } from "./controls/presets.js";
import { drawSparkline } from "./charts/sparkline.js";
import { Rows } from "./charts/rows.js";
import { html, icon } from "./dom.js";
import { number } from "./formats.js";

export class FigureView {
  /**
   * @param {any} about the panel of the definition
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
    const way = { format: this.view.format, digits: this.view.digits, type: rows.type(name) };
    const [value] = rows.values(name);
    const small = data.sparkline ? drawSparkline(new Rows(data.sparkline.columns, data.sparkline.rows), name, formats) : null;
    const unit = this.view.unit ? html("span", { class: "figure-unit" }, ` ${this.view.unit}`) : null;
    const text = html("p", { class: "figure-value" }, formats.text(value, way), unit);
    const change = data.compare ? this.#change(number(value), data, way) : null;
    return html("div", { class: "figure" }, text, small, change);
  }

  /** Which days are compared with which. */
  #dates(periods) {
    if (!periods) return "Against the same part of the period before";
    const [shown, before] = [periods.shown, periods.before].map((days) => rangeLabel(days, this.context.formats));
    return `${shown} against ${before}`;
  }

  #change(now, { compare, periods }, way) {
    const change = (...parts) => changeOf(this.#dates(periods), ...parts);
    const before = number(new Rows(compare.columns ?? [], compare.rows).values(this.view.figure)[0]);
    const { formats } = this.context;
    if (Number.isNaN(before) || Number.isNaN(now)) return change("same", "", "No value before");
    const text = formats.text(before, way);
    if (now === before) return change("same", "", "As before");
    const kind = now > before ? "rise" : "fall";
    const good = this.view.better ? ((this.view.better === "higher") === (now > before) ? " good" : " bad") : "";
    const much = before === 0 ? "" : ` ${formats.change(now, before, way)}`;
    return change(kind, good, `${now > before ? "Up" : "Down"}${much} from ${text} before`);
  }
}

function changeOf(title, kind, good, words) {
  return html("p", { class: `change${good}`, title }, icon(kind), html("span", {}, words));
}
