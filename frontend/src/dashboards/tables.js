// Tables. The server sorts the rows and divides them into pages. The head stays in view, and edges fade if there is more to see. If the
// table is too narrow, columns are hidden in an order that the author sets.

import { Rows } from "./charts/rows.js";
import { words } from "./charts/series.js";
import { html, icon, writeShort } from "./dom.js";
import { isNumeric, number, shareOf } from "./numbers.js";

/** Rows of a page, unless the author sets another number. The server has the same default. */
const PAGE = 50;
const MOST_GHOSTS = 17;
/** Width, in pixels, of an edge that fades. The stylesheet has the same number as --fade. */
const FADE = 8;

/** @typedef {{name: string, title?: string, format?: string, digits?: number, bar?: boolean, hide?: number}} ColumnView */

export class TableView {
  #page = 0;
  #sort;
  #all = false;

  /**
   * @param {any} about the panel in the dashboard's definition
   * @param {import("./panels.js").Context} context
   */
  constructor(about, context) {
    this.about = about;
    this.view = about.view;
    this.context = context;
    this.#sort = this.view.sort ?? "";
    this.size = this.view.page ?? PAGE;
  }

  /** The part of a request for this table, in addition to the filters. */
  get wanted() {
    return { page: this.#page, sort: this.#sort };
  }

  /** Goes back to the first page, because the filters have changed. */
  restart() {
    this.#page = 0;
  }

  skeleton() {
    const lines = Array.from({ length: Math.min(this.size + 1, MOST_GHOSTS) }, () => html("span", { class: "ghost ghost-row" }));
    return html("div", { class: "ghost-table" }, html("div", { class: "ghost-rows" }, ...lines));
  }

  isEmpty(data) {
    return !data.rows.length && this.#page === 0;
  }

  /** @returns {Node} */
  show(data) {
    const rows = new Rows(data.columns, data.rows);
    const shown = columnsOf(this.view.columns, rows, this.context.formats);
    const ends = data.extremes && new Rows(data.extremes.columns, data.extremes.rows);
    for (const column of shown) if (column.bar) column.scale = scaleOf([...column.values, ...(ends?.has(column.name) ? ends.values(column.name) : [])]);
    this.#name = this.about.click && shown.length ? this.context.formats.names(shown[0].values, shown[0].way) : null;
    const head = html("tr", {}, ...shown.map((column) => this.#heading(column)));
    const body = data.rows.map((_, row) => this.#row(row, shown, rows, data));
    const caption = html("caption", { class: "visually-hidden" }, this.context.title);
    const table = html("table", {}, caption, html("thead", {}, head), html("tbody", {}, ...body));
    const scroller = html("div", { class: "table-scroller", tabindex: "0", role: "group", "aria-label": this.context.title }, table);
    this.#hidden = html("button", { type: "button", class: "link", hidden: true, click: () => this.#showAll() });
    this.parts = { scroller, table, shown };
    scroller.addEventListener("scroll", () => fade(scroller), { passive: true });
    return html("div", { class: "table" }, scroller, html("div", { class: "table-foot" }, this.#pages(data), this.#hidden));
  }

  #hidden;
  /** Writes the names that can be clicked, so that no two of them look alike. */
  #name;
  /** The numbers that are shown in a shorter form, and their usual texts. */
  #short = [];

  #heading(column) {
    const [name, descending] = this.#sort.startsWith("-") ? [this.#sort.slice(1), true] : [this.#sort, false];
    const sorted = name === column.name ? (descending ? "descending" : "ascending") : null;
    const sort = () => {
      const first = column.numeric ? `-${column.name}` : column.name;
      const other = column.numeric ? column.name : `-${column.name}`;
      this.#sort = this.#sort === first ? other : first;
      this.#page = 0;
      this.context.ask();
    };
    const button = html("button", { type: "button", class: "sorter", "data-focus": `sort ${column.name}`, click: sort }, html("span", {}, column.title), icon(descending ? "fall" : "rise"));
    return html("th", { scope: "col", class: column.numeric ? "number" : null, "aria-sort": sorted }, button);
  }

  #row(row, shown, rows, data) {
    const choose = () => {
      const problem = this.context.choose({ data, places: [row] });
      if (problem) this.context.say(problem);
    };
    const cells = shown.map((column, place) => this.#cell(column, place, row, choose));
    const click = this.about.click ? (event) => !event.target.closest("button") && !getSelection().toString() && choose() : null;
    const chosen = this.about.click && this.context.isChosen(rows.record(row));
    return html("tr", { class: this.about.click ? "choosable" : null, "aria-current": chosen ? "true" : null, click }, ...cells);
  }

  #cell(column, place, row, choose) {
    const { formats } = this.context;
    const value = column.values[row];
    const choice = place === 0 && this.about.click;
    const text = choice ? this.#name(value) : formats.text(value, column.way);
    const content = choice ? html("button", { type: "button", class: "link", "data-focus": `row ${text}`, click: choose }, text) : text;
    const bar = column.bar ? barOf(column, row) : null;
    const kind = [column.numeric && "number", column.bar && "with-bar", column.isText && "wraps"].filter(Boolean).join(" ");
    return html(place === 0 ? "th" : "td", { scope: place === 0 ? "row" : null, class: kind || null, title: wholeOf(value, column, text, formats) }, bar, html("span", { class: "cell" }, content));
  }

  #pages(data) {
    const { formats } = this.context;
    const from = this.#page * this.size;
    const write = (count) => formats.text(count, { type: "integer" });
    const total = data.total ?? null;
    const here = data.rows.length;
    if (total === null || total <= here) return html("p", { class: "count" }, `${write(total ?? here)} ${here === 1 ? "row" : "rows"}`);
    const turn = (way, label, off) => html("button", { type: "button", class: "quiet-button", "data-focus": label, disabled: off, click: () => this.#turn(way) }, label);
    return html(
      "div",
      { class: "pages" },
      html("p", { class: "count" }, `${write(from + 1)}–${write(from + here)} of ${write(total)}`),
      turn(-1, "Previous", this.#page === 0),
      turn(1, "Next", from + here >= total),
    );
  }

  #turn(way) {
    this.#page += way;
    this.context.ask();
  }

  /**
   * Call this when the table is on the page. Hides columns until the others fit. If they do not fit, long names are wrapped, and then
   * numbers are written in a shorter form if that is enough.
   */
  fit() {
    if (!this.parts) return;
    const { scroller, table, shown } = this.parts;
    const { scrollLeft } = scroller;
    const show = (place, visible) => {
      for (const row of table.rows) row.cells[place].hidden = !visible;
    };
    shown.forEach((_, place) => show(place, true));
    table.classList.remove("wide");
    this.#restore();
    const order = shown.map(({ hide }, place) => ({ hide, place })).filter(({ hide }) => hide).sort((a, b) => a.hide - b.hide);
    let gone = 0;
    for (const { place } of this.#all ? [] : order) {
      if (table.offsetWidth <= scroller.clientWidth) break;
      show(place, false);
      gone += 1;
    }
    const isWide = () => table.offsetWidth > scroller.clientWidth;
    table.classList.toggle("wide", isWide());
    if (isWide()) this.#shorten(0);
    if (isWide()) {
      table.classList.remove("wide"); // the table scrolls anyway, so short names need not be wrapped
      this.#restore();
      this.#shorten(scroller.clientWidth); // wider numbers could not be read even by scrolling
    }
    this.#hidden.hidden = !gone;
    if (gone) this.#hidden.textContent = `Show ${gone} more ${gone === 1 ? "column" : "columns"}`;
    scroller.scrollLeft = scrollLeft; // hiding columns has changed it
    fade(scroller);
  }

  /** Shortens the numbers of each column that is wider than `room` pixels. */
  #shorten(room) {
    const { table, shown } = this.parts;
    const { formats } = this.context;
    shown.forEach(({ numeric, values, way }, place) => {
      if (!numeric || table.rows[0].cells[place].offsetWidth <= room) return;
      values.forEach((value, row) => {
        const cell = table.rows[row + 1].cells[place].lastChild;
        const element = cell.querySelector(".link") ?? cell;
        const [text, short] = [element.textContent, formats.short(value, way)];
        if (short.length >= text.length) return;
        this.#short.push([element, text]);
        writeShort(element, short, formats.whole(value, way));
      });
    });
  }

  #restore() {
    for (const [element, text] of this.#short.splice(0)) {
      element.replaceChildren(text);
      element.removeAttribute("title");
    }
  }

  #showAll() {
    this.#all = true;
    this.fit();
    this.parts.scroller.focus();
  }
}

/** Fades the edges beyond which there is more. Hides the numbers of a column while an edge cuts their digits. */
export function fade(scroller) {
  const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = scroller;
  const { left } = scroller.getBoundingClientRect();
  const more = (side, there) => scroller.classList.toggle(`more-${side}`, there) ? FADE : -1;
  const from = left + more("left", scrollLeft > 1);
  const to = left + clientWidth - more("right", scrollLeft + clientWidth < scrollWidth - 1);
  more("below", scrollTop + clientHeight < scrollHeight - 1);
  const [head, ...rows] = scroller.firstChild.rows;
  [...head.cells].forEach((column, place) => {
    if (column.className !== "number") return;
    const cells = rows.map(({ cells: each }) => each[place]);
    const boxes = cells.map(({ lastChild }) => lastChild.getBoundingClientRect());
    const isCut = boxes.some((box) => box.left < from || box.right > to);
    for (const cell of cells) cell.classList.toggle("unseen", isCut);
  });
}

/** @param {ColumnView[] | undefined} views */
export function columnsOf(views, rows, formats) {
  const wanted = views ?? rows.columns.map(({ name }) => ({ name }));
  return wanted.filter(({ name }) => rows.has(name)).map((view) => {
    const type = rows.type(view.name);
    const values = rows.values(view.name);
    const way = rows.way(formats, [view.name], view);
    return { ...view, values, way, title: view.title ?? words(view.name), numeric: isNumeric(type), isText: type === "text" };
  });
}

/** All digits of a number that is shown with fewer, or a time with its seconds. Null if nothing is missing in the text. */
export function wholeOf(value, { way }, text, formats) {
  const whole = formats.whole(value, way);
  return whole === text ? null : whole;
}

/** The ends of a scale that includes 0 and these numbers. */
function scaleOf(values) {
  const amounts = values.map((value) => number(value) || 0);
  return [Math.min(0, ...amounts), Math.max(0, ...amounts)];
}

/** A bar behind a number. It begins at the 0 of the scale, which all pages share. */
function barOf({ values, scale: [low, high] }, row) {
  const amount = number(values[row]) || 0;
  const share = (at) => (low === high ? 0 : shareOf(at, low, high));
  const bar = html("span", { class: `cell-bar${amount < 0 ? " negative" : ""}` });
  bar.style.setProperty("--from", share(Math.min(0, amount)).toFixed(4));
  bar.style.setProperty("--size", Math.abs(share(amount) - share(0)).toFixed(4));
  return bar;
}
