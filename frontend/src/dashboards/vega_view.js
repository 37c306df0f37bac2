// A panel with a Vega-Lite specification. Its bundle is large, so it is loaded only if a dashboard has such a panel.

import { draw } from "../vega.js";
import { loaded } from "./chunks.js";
import { html } from "./dom.js";
import { twinOf } from "./twin.js";

const HEIGHT = 260;

export class VegaView {
  #width = 0;

  /**
   * @param {any} about the panel in the dashboard's definition
   * @param {import("./panels.js").Context} context
   */
  constructor(about, context) {
    this.view = about.view;
    this.context = context;
    this.asTable = false;
  }

  skeleton() {
    return html("div", { class: "ghost-plot" });
  }

  isEmpty(data) {
    return !data.rows.length;
  }

  /** @returns {Node} */
  show(data) {
    this.data = data;
    this.#width = 0;
    this.element = html("div", { class: "vega", tabindex: "0", "data-focus": "chart", role: "group", "aria-label": this.context.title });
    return this.element;
  }

  /** Draws the panel for a width in CSS pixels, unless it is already drawn for this width. */
  fit(width) {
    if (!this.element || !width || width === this.#width) return;
    this.#width = width;
    if (this.asTable) return this.element.replaceChildren(twinOf(this.data, {}, this.context.formats, this.context.title));
    const { formats, colors } = this.context;
    const colorsOf = colors.of.bind(colors);
    try {
      draw(this.element, this.view.vega, this.data, { width, height: HEIGHT, formats, colorsOf });
    } catch (error) {
      console.error(error);
      const message = "This chart could not be drawn. Its table holds the same rows.";
      this.context.failed({ code: "not_drawn", message });
      this.element.replaceChildren(html("p", { class: "panel-empty" }, message));
    }
  }

  toggleTable() {
    this.asTable = !this.asTable;
    this.#again();
  }

  /** Call this when the colours of names have changed. */
  recolor() {
    if (!this.asTable) this.#again();
  }

  #again() {
    const width = this.#width;
    this.#width = 0;
    this.fit(width);
  }

  /** @returns {Promise<Blob>} */
  picture() {
    return loaded["menu_entries.js"].picture(this.element.querySelector("svg"), { title: this.context.title, series: [] });
  }
}
