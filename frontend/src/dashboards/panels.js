// A panel: its head, what it shows, and its states. Each is by itself: none waits for another.

import { missingOf } from "./charts/index.js";
import { words } from "./charts/series.js";
import { ChartView } from "./chart_view.js";
import { freshId, html, settled } from "./dom.js";
import { load, loaded } from "./chunks.js";
import { FigureView } from "./figures.js";
import { menuOf } from "./panel_menu.js";
import { TableView } from "./tables.js";
import { paragraphs } from "./texts.js";

const STEPS = [320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680];
/** The server keeps two columns for a pixel; the line of noise needs three to look the same (test_reduced_lines.py). */
const FINER = 1.5;
const NOTEWORTHY = 60;
const NO_ROWS = "There is nothing here for this choice.";

/**
 * @typedef {object} Context what a panel may use of the page
 * @property {string} title of the panel
 * @property {import("./values.js").Formats} formats
 * @property {import("./charts/colors.js").SeriesColors} colors
 * @property {(text: string) => void} announce
 * @property {(more?: {fresh: boolean}) => void} ask asks for the panel again; fresh: not for old rows of a cache
 * @property {() => any[]} choice of the viewer, as far as the panel reads it
 * @property {(clicked: import("./clicks.js").Clicked) => string | undefined} choose what a click does; a sentence where it does nothing
 * @property {(text: string) => void} say writes a sentence below the panel, and speaks it
 * @property {(record: Record<string, any>) => boolean} isChosen
 * @property {(from: number, to: number, by: any) => boolean} zoom false where the panel is to zoom by itself
 * @property {() => boolean} isFiltered
 * @property {() => void} reset
 * @property {(error: {code: string, message: string}) => void} failed tells the host of what a viewer sees
 * @property {() => Promise<void>} download
 * @property {(() => Promise<string>) | null} explain where the rows come from; in a preview alone
 */

/** The kinds whose unit stands beside the number, or the name of its axis. */
const UNIT_ELSEWHERE = new Set(["figure", "scatter"]);

/** What a panel is whose bundle has not come. */
const COMING = { skeleton: () => html("div", { class: "ghost-plot" }) };

/** The kinds of panels that show no rows. */
export const WITHOUT_ROWS = new Set(["heading", "text"]);

/** How wide a plot is, in steps of device pixels, so that the server's answers are alike. */
export function widthStep(width) {
  const pixels = width * FINER * (globalThis.devicePixelRatio || 1);
  return STEPS.find((step) => step >= pixels) ?? STEPS.at(-1);
}

export class Panel {
  #data = null;
  /** For which choice of the viewer the rows are that are shown, and when they came. */
  #choice = "";
  #came = 0;
  #width = 0;

  /**
   * @param {any} about the panel of the definition
   * @param {Omit<Context, "title" | "say">} shared
   */
  constructor(about, shared) {
    this.about = about;
    this.view = about.view;
    this.id = about.id;
    this.title = this.view.title ?? titleOf(this.view);
    this.context = { ...shared, title: this.title, say: (text) => this.#say(text) };
    this.element = WITHOUT_ROWS.has(about.kind) ? this.#plain() : this.#fed();
  }

  #plain() {
    const { kind, view } = this;
    if (kind === "heading" || view.kind === "heading") return html("h2", { class: "heading", "data-panel": this.id }, view.heading ?? "");
    const head = view.title ? html("h2", { class: "panel-title" }, view.title) : null;
    const text = view.text === undefined ? [html("p", {}, "Something that this text needs is not set for you.")] : paragraphs(view.text);
    return html("section", { class: "panel panel-text", "data-panel": this.id }, head, ...text);
  }

  #fed() {
    const id = freshId("title");
    this.inner = viewOf(this.about, this.context);
    this.missing?.catch(() => {}); // it comes while the rows do; if it fails, it is asked for again with them
    this.body = html("div", { class: "panel-body" });
    this.note = html("p", { class: "panel-note", hidden: true });
    const unit = this.view.unit && !UNIT_ELSEWHERE.has(this.view.kind) ? html("span", { class: "unit" }, this.view.unit) : null;
    const head = html("div", { class: "panel-head" }, html("h2", { class: "panel-title", id }, this.title), unit, menuOf(this.title, () => this.#items()));
    const about = this.view.description ? html("p", { class: "panel-about" }, this.view.description) : null;
    const section = html("div", { class: `panel panel-${this.view.kind}`, "data-panel": this.id, role: "group", "aria-labelledby": id }, head, about, this.body, this.note);
    const fit = settled(() => this.inner.fit?.(this.#width), 60);
    const sized = ([{ contentRect }]) => {
      this.#width = Math.round(contentRect.width); // as clientWidth is, or each chart would be drawn twice
      fit();
    };
    new ResizeObserver(sized).observe(this.body);
    return section;
  }

  /** What the server is asked. */
  get wanted() {
    const { inner } = this;
    return { id: this.id, ...(inner instanceof ChartView && { width: widthStep(this.#width || this.body.clientWidth || 640) }), ...inner.wanted };
  }

  /** Before any is drawn, or each would lay out the page again. */
  measure() {
    this.#width = this.body.clientWidth;
  }

  /** At once. */
  fit() {
    this.inner.fit?.(this.body.clientWidth);
  }

  get hasRows() {
    return Boolean(this.inner);
  }

  /** @returns {Promise<any> | null} what it waits for before it can show anything */
  get missing() {
    return missingOf(this.view.kind);
  }

  /** Something is under way. What is there stays until the answer has come. */
  waiting() {
    this.coming = null;
    this.#state("waiting");
    this.body.setAttribute("aria-busy", "true");
    if (!this.#data) this.body.replaceChildren(this.inner.skeleton());
  }

  /** @param {any} message the line of the answer */
  show(message) {
    this.asOf = message.as_of ?? this.asOf;
    if (message.error) return this.fail(message.error.message);
    this.#data = null; // until it is drawn
    if (this.inner === COMING) this.inner = viewOf(this.about, this.context);
    this.body.removeAttribute("aria-busy");
    if (this.inner.isEmpty(message)) this.#empty();
    else this.#draw(message);
    this.#data = message;
    this.#choice = this.#chosen();
    this.#came = performance.now();
  }

  #draw(message) {
    this.#state("ready");
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.body.replaceChildren(this.inner.show(message));
    this.inner.fit?.(this.#width || this.body.clientWidth); // to ask for it would lay out the whole page again
    if (focused) this.#focus(focused);
    this.#age(message);
  }

  /** What had the focus has it again, now that it was made anew; a button that is off passes it on. */
  #focus(name) {
    const [same] = this.body.querySelectorAll(`[data-focus="${CSS.escape(name)}"]:not(:disabled)`);
    (same ?? this.body.querySelector("[data-focus]:not(:disabled)"))?.focus({ preventScroll: true });
  }

  #empty() {
    this.#state("empty");
    const reset = this.context.isFiltered() ? html("button", { type: "button", class: "link", click: this.context.reset }, "Show the defaults") : null;
    this.body.replaceChildren(html("p", { class: "panel-empty" }, this.view.empty ?? NO_ROWS, " ", reset));
    this.#write();
  }

  #chosen() {
    return JSON.stringify([this.context.choice(), this.inner.wanted]);
  }

  /** The server does not answer: rows of the same choice stay. */
  lost() {
    if (this.#isOfChoice) {
      this.body.removeAttribute("aria-busy");
      return this.#state("ready");
    }
    this.#data = null;
    this.waiting();
  }

  get #isOfChoice() {
    return this.#data && this.#choice === this.#chosen();
  }

  /**
   * Rows of the same choice stay, with a word about their age: they are better than none.
   * @param {string} reason a sentence for people
   */
  fail(reason) {
    this.body.removeAttribute("aria-busy");
    if (this.#isOfChoice) return this.#tooOld(reason);
    this.#data = null;
    this.#state("failed");
    const again = html("button", { type: "button", class: "quiet-button", click: () => this.context.ask() }, "Try again");
    this.body.replaceChildren(html("div", { class: "panel-failed", role: "alert" }, html("p", {}, reason), again));
    this.#write();
  }

  /** Until other rows come. */
  #say(text) {
    this.context.announce(text);
    this.#write(text);
  }

  /** The sentence below the panel, if any; `again`: a button beside it, where it is a warning. */
  #write(text = "", again) {
    this.note.hidden = !text;
    this.note.classList.toggle("late", !!again);
    this.note.replaceChildren(text, again ?? "");
  }

  #state(state) {
    this.element.dataset.state = state;
  }

  #tooOld(reason) {
    this.#state("ready");
    this.#late((this.#data.age ?? 0) + (performance.now() - this.#came) / 1000, reason);
  }

  /** How old the rows are, where that is worth a word; a warning where they should be newer. */
  #age({ age }) {
    if (this.about.refresh && age > 2 * this.about.refresh + 5) return this.#late(age, "Newer ones have not come.");
    this.#write(age >= NOTEWORTHY ? `${this.#duration(age)} old` : "");
  }

  #late(age, reason) {
    const again = html("button", { type: "button", class: "link", click: () => this.context.ask({ fresh: true }) }, "Ask again");
    if (!this.note.classList.contains("late")) this.context.announce(`${this.title}: ${reason}`); // once, not at each refresh
    this.#write(`These numbers are ${this.#duration(age)} old. ${reason} `, again);
  }

  /** In seconds where it is short, else in minutes. */
  #duration(age) {
    return this.context.formats.text(age < NOTEWORTHY ? age : age - (age % NOTEWORTHY), { format: "duration" });
  }

  #items() {
    const found = [];
    const { inner, title } = this;
    const { explain, download } = this.context;
    const { query } = this.about;
    const add = (label, entry) => found.push({ label, run: () => this.#run(entry) });
    const ready = this.element.dataset.state === "ready";
    if (ready && inner.toggleTable) add(inner.asTable ? "Show as chart" : "Show as table", () => inner.toggleTable());
    found.push({ label: "Download CSV", run: download });
    if (ready && inner.picture && !inner.asTable && !inner.chart?.refused) add("Download PNG", async ({ save }) => save(await inner.picture(), `${title}.png`));
    if (explain) add("Explanation", async ({ showText }) => showText(`Explanation of ${title}`, await explain()));
    if (query) add("Show query", ({ showText }) => showText(`Query of ${title}`, query));
    return found;
  }

  /** What an entry of the menu does, once its bundle has come. */
  async #run(entry) {
    try {
      await entry(await load("menu_entries.js"));
    } catch {
      this.#say("This could not be loaded. Please try again.");
    }
  }
}

function viewOf(about, context) {
  if (about.kind === "figure") return new FigureView(about, context);
  if (about.kind === "table") return new TableView(about, context);
  if (about.kind !== "vega") return new ChartView(about, context);
  return loaded["vega.js"] ? new loaded["vega.js"].VegaView(about, context) : COMING;
}

/** The title of a panel whose author gave none. */
function titleOf(view) {
  const measures = [view[view.kind]].flat();
  if (view.kind === "table") return "Table";
  if (typeof measures[0] !== "string") return "";
  const what = measures.map(words).join(", ");
  return view.by ? `${what} by ${words(view.by).toLowerCase()}` : what;
}
