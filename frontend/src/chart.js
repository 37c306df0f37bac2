// <tenantry-chart>: one Vega-Lite chart, and the table of the same rows.
//
//   <tenantry-chart locale="en-US" currency="USD">
//     <script type="application/json">{ a Vega-Lite specification with its data in it }</script>
//     <div class="chart-table" …><table>…</table></div>
//   </tenantry-chart>
//
// Expressions are interpreted and never compiled, so that a strict Content-Security-Policy holds; nothing is ever
// fetched. The stylesheet reserves the height before this file has come, and shows the table where scripts are off.

import { draw } from "./vega.js";

const AS_TABLE = "Show as table";
const AS_CHART = "Show as chart";

class TenantryChart extends HTMLElement {
  #plot;
  #table;
  #view;
  #definition;
  #observer;
  #dark = matchMedia("(prefers-color-scheme: dark)");
  #redraw = () => this.#draw();
  #width = 0;

  connectedCallback() {
    if (!this.#plot) this.#build();
    this.#dark.addEventListener("change", this.#redraw);
    this.#observer = new ResizeObserver(() => {
      if (Math.round(this.#plot.clientWidth) !== this.#width) this.#draw();
    });
    this.#observer.observe(this.#plot);
    this.#draw();
  }

  disconnectedCallback() {
    this.#dark.removeEventListener("change", this.#redraw);
    this.#observer.disconnect();
    this.#view?.finalize();
    this.#view = undefined;
    this.#width = 0;
  }

  #build() {
    const island = this.querySelector(':scope > script[type="application/json"]');
    this.#definition = JSON.parse(island.textContent);
    this.#table = this.querySelector(":scope > .chart-table");
    this.#plot = document.createElement("div");
    this.#plot.className = "chart-plot";
    this.prepend(this.#plot);
    if (this.#table) this.append(this.#toggle());
  }

  #toggle() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chart-toggle";
    button.textContent = AS_TABLE;
    this.#table.hidden = true;
    this.#table.id ||= `chart-table-${crypto.randomUUID?.() ?? Math.random().toString(36).slice(2)}`;
    button.setAttribute("aria-controls", this.#table.id);
    button.addEventListener("click", () => {
      const shown = this.#table.hidden;
      this.#table.hidden = !shown;
      this.#plot.hidden = shown;
      button.textContent = shown ? AS_CHART : AS_TABLE;
      if (!shown) this.#draw();
    });
    return button;
  }

  #draw() {
    const { clientWidth, clientHeight } = this.#plot;
    if (!clientWidth) return; // not shown now: the observer calls again when it is
    this.#width = Math.round(clientWidth);
    try {
      this.#show(this.#width, clientHeight);
      this.setAttribute("data-state", "ready");
    } catch (error) {
      this.setAttribute("data-state", "failed");
      this.#plot.textContent = "This chart could not be drawn. Its table holds the same rows.";
      console.error(error);
    }
  }

  #show(width, height) {
    const locale = this.getAttribute("locale") || document.documentElement.lang || "en";
    const currency = this.getAttribute("currency") || "USD";
    this.#view?.finalize();
    this.#view = draw(this.#plot, this.#definition, { width, height, locale, currency });
  }
}

customElements.define("tenantry-chart", TenantryChart);
