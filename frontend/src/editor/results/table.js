// The rows of a run, divided into pages and sorted as the author chooses.

import { html } from "../../dashboards/dom.js";
import { compare, isNumeric } from "../../dashboards/numbers.js";
import { fade, TableView } from "../../dashboards/tables.js";

const PAGE = 50;
/** Maximum characters of a text that is shown completely. */
const LONG = 40;

export class ResultTable {
  element = html("div", { class: "rows" });
  #view = null;
  #run = null;
  /** Number of rows that the run had when it was drawn. */
  #shown = 0;

  /**
   * @param {import("../../dashboards/values.js").Formats} formats
   * @param {(offset: number) => void} go shows a place in the text
   * @param {string} hint the sentence that is shown before a run
   */
  constructor(formats, go, hint) {
    Object.assign(this, { formats, go, hint });
    new ResizeObserver(() => this.#fade()).observe(this.element);
  }

  /** @param {import("../run.js").Run | null} run */
  show(run) {
    if (!run) return this.#say(this.hint);
    if (run.error) return this.#fail(run.error);
    if (run !== this.#run) [this.#view, this.#shown] = [null, 0];
    this.#run = run;
    if (!run.columns.length) return this.element.replaceChildren(run.stopped ? html("p", { class: "hint" }, "The query was stopped.") : html("div", { class: "ghost-rows", role: "status", "aria-label": "The query runs" }, ...Array.from({ length: 8 }, () => html("span", { class: "ghost ghost-row" }))));
    if (!run.rows.length && run.ended) return this.#say(run.stopped ? "The query was stopped." : "The query gives no rows for this group.");
    if (!run.ended && this.#shown >= PAGE) return; // the other rows are drawn when all have arrived
    this.#draw();
  }

  #say(text) {
    this.#view = null;
    this.element.replaceChildren(html("p", { class: "hint" }, text));
  }

  #fail({ message, from }) {
    this.#view = null;
    const place = from === undefined || from === null ? null : html("button", { type: "button", class: "link", click: () => this.go(from) }, "Show the place");
    this.element.replaceChildren(html("div", { class: "panel-failed", role: "alert" }, html("p", { class: "failure" }, message), place));
  }

  #fade() {
    const scroller = this.element.querySelector(".table-scroller");
    if (scroller) fade(scroller);
  }

  #draw() {
    const { columns } = this.#run;
    this.#view ??= new TableView(
      { view: { page: PAGE, columns: columns.map(({ name }) => ({ name, title: name })) } },
      { title: "Rows", formats: this.formats, ask: () => this.#draw(), choose: () => {}, say: () => {}, isChosen: () => false },
    );
    const { page, sort } = this.#view.wanted;
    const rows = sorted(columns, this.#run.rows, sort);
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.element.replaceChildren(this.#view.show({ columns, rows: rows.slice(page * PAGE, (page + 1) * PAGE), total: rows.length }));
    for (const cell of this.element.querySelectorAll(".wraps")) if (cell.textContent.length > LONG) cell.title = cell.textContent;
    this.#fade();
    this.#shown = rows.length;
    const [again] = focused ? this.element.querySelectorAll(`[data-focus="${CSS.escape(focused)}"]:not(:disabled)`) : [];
    (again ?? (focused ? this.element.querySelector("[data-focus]:not(:disabled)") : null))?.focus();
  }
}

/** Sorts rows by a column: `name`, or `-name` for descending order. Rows without a value are last. */
export function sorted(columns, rows, sort) {
  if (!sort) return rows;
  const down = sort.startsWith("-");
  const place = columns.findIndex(({ name }) => name === sort.slice(down ? 1 : 0));
  const text = new Intl.Collator(undefined, { numeric: true });
  const order = isNumeric(columns[place].type) ? compare : (a, b) => text.compare(String(a), String(b));
  return [...rows].sort(({ [place]: a }, { [place]: b }) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return down ? order(b, a) : order(a, b);
  });
}
