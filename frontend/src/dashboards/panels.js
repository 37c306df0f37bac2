// A panel with its head, content and states. Panels are independent: none waits for another.

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
/**
 * The server keeps two columns for each pixel that is requested. A noisy line needs three to look the same (test_reduced_lines.py), so 1.5
 * times the pixels are requested.
 */
const FINER = 1.5;
const NOTEWORTHY = 60;
const NO_ROWS = "There is nothing here for this choice.";

/**
 * @typedef {object} Context the parts of the page that a panel may use
 * @property {string} title the title of the panel
 * @property {import("./values.js").Formats} formats
 * @property {import("./charts/colors.js").SeriesColors} colors
 * @property {(text: string) => void} announce
 * @property {(more?: {fresh: boolean}) => void} ask requests the panel again; `fresh`: without old rows from a cache
 * @property {() => any[]} choice the viewer's choices that the panel reads
 * @property {(clicked: import("./clicks.js").Clicked) => string | undefined} choose handles a click; returns a sentence for the viewer if
 *   the click does nothing
 * @property {(text: string) => void} say shows a sentence below the panel and announces it
 * @property {(record: Record<string, any>) => boolean} isChosen
 * @property {(from: number, to: number, by: any) => boolean} zoom zooms the page; false if the panel must zoom by itself
 * @property {() => boolean} isFiltered
 * @property {() => void} reset
 * @property {(error: {code: string, message: string}) => void} failed reports an error that the viewer sees to the host
 * @property {() => Promise<void>} download
 * @property {(() => Promise<string>) | null} explain explains where the rows come from; only in a preview
 */

/** The kinds that show the unit next to the number or in the name of the axis, and not in the head of the panel. */
const UNIT_ELSEWHERE = new Set(["figure", "scatter"]);

/** Stands for the view of a panel until its bundle is loaded. */
const COMING = { skeleton: () => html("div", { class: "ghost-plot" }) };

/** The kinds of panels that show no rows. */
export const WITHOUT_ROWS = new Set(["heading", "text"]);

/** The width of a plot for the server, rounded up to one of a few steps, so that it can share responses between viewers. */
export function widthStep(width) {
  const pixels = width * FINER * (globalThis.devicePixelRatio || 1);
  return STEPS.find((step) => step >= pixels) ?? STEPS.at(-1);
}

export class Panel {
  #data = null;
  /** The viewer's choices for which the rows on display were requested, and the time when they arrived. */
  #choice = "";
  #came = 0;
  #width = 0;

  /**
   * @param {any} about the panel in the dashboard's definition
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
    this.missing?.catch(() => {}); // the bundle is loaded while the rows are requested; after a failure, it is loaded again when they arrive
    this.body = html("div", { class: "panel-body" });
    this.note = html("p", { class: "panel-note", hidden: true });
    const unit = this.view.unit && !UNIT_ELSEWHERE.has(this.view.kind) ? html("span", { class: "unit" }, this.view.unit) : null;
    const head = html("div", { class: "panel-head" }, html("h2", { class: "panel-title", id }, this.title), unit, menuOf(this.title, () => this.#items()));
    const about = this.view.description ? html("p", { class: "panel-about" }, this.view.description) : null;
    const section = html("div", { class: `panel panel-${this.view.kind}`, "data-panel": this.id, role: "group", "aria-labelledby": id }, head, about, this.body, this.note);
    const fit = settled(() => this.inner.fit?.(this.#width), 60);
    const sized = ([{ contentRect }]) => {
      this.#width = Math.round(contentRect.width); // rounded like clientWidth, because otherwise each chart would be drawn twice
      fit();
    };
    new ResizeObserver(sized).observe(this.body);
    return section;
  }

  /** The part of a request for this panel. */
  get wanted() {
    const { inner } = this;
    return { id: this.id, ...(inner instanceof ChartView && { width: widthStep(this.#width || this.body.clientWidth || 640) }), ...inner.wanted };
  }

  /** Measures the panel. Call this for all panels before one is drawn, so that the browser lays out the page only once. */
  measure() {
    this.#width = this.body.clientWidth;
  }

  /** Draws the panel at once for its current width. */
  fit() {
    this.inner.fit?.(this.body.clientWidth);
  }

  get hasRows() {
    return Boolean(this.inner);
  }

  /** @returns {Promise<any> | null} resolves when the panel can show its rows; null if it can do so now */
  get missing() {
    return missingOf(this.view.kind);
  }

  /** Shows that the panel was requested. Its content stays until the response arrives. */
  waiting() {
    this.coming = null;
    this.#state("waiting");
    this.body.setAttribute("aria-busy", "true");
    if (!this.#data) this.body.replaceChildren(this.inner.skeleton());
  }

  /** @param {any} message the line of the response */
  show(message) {
    this.asOf = message.as_of ?? this.asOf;
    if (message.error) return this.fail(message.error.message);
    this.#data = null; // so that nothing uses the previous rows until these are drawn
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
    this.inner.fit?.(this.#width || this.body.clientWidth); // reading clientWidth would lay out the whole page again
    if (focused) this.#focus(focused);
    this.#age(message);
  }

  /** Restores the focus after the content was made again. If the element is disabled now, another one gets the focus. */
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

  /** Call this if the server does not answer. Rows stay visible if they match the viewer's choices. */
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
   * Shows an error. Rows that match the viewer's choices stay visible, with a note about their age, because old rows are better than none.
   * @param {string} reason a sentence for the viewer
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

  /** Shows and announces a sentence until other rows arrive. */
  #say(text) {
    this.context.announce(text);
    this.#write(text);
  }

  /** Writes the sentence below the panel, or removes it. With the button `again`, it is shown as a warning. */
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

  /** Shows the age of the rows if it is worth mentioning, as a warning if newer rows should have arrived. */
  #age({ age }) {
    if (this.about.refresh && age > 2 * this.about.refresh + 5) return this.#late(age, "Newer ones have not come.");
    this.#write(age >= NOTEWORTHY ? `${this.#duration(age)} old` : "");
  }

  #late(age, reason) {
    const again = html("button", { type: "button", class: "link", click: () => this.context.ask({ fresh: true }) }, "Ask again");
    if (!this.note.classList.contains("late")) this.context.announce(`${this.title}: ${reason}`); // announced once, not at each refresh
    this.#write(`These numbers are ${this.#duration(age)} old. ${reason} `, again);
  }

  /** A duration in seconds, or in whole minutes if it is longer. */
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

  /** Runs an entry of the menu after its bundle is loaded. */
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

/** A title for a panel whose author has set none. */
function titleOf(view) {
  const measures = [view[view.kind]].flat();
  if (view.kind === "table") return "Table";
  if (typeof measures[0] !== "string") return "";
  const what = measures.map(words).join(", ");
  return view.by ? `${what} by ${words(view.by).toLowerCase()}` : what;
}
