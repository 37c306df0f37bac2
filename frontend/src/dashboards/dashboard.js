// One dashboard on the page. Makes controls and panels from its definition, and passes each message of the server to its panel.

import { SeriesColors } from "./charts/colors.js";
import { choose, isChosen } from "./clicks.js";
import { Controls } from "./controls/index.js";
import { html, settled } from "./dom.js";
import { asTheyAre, Filters } from "./filters.js";
import { Formats } from "./values.js";
import { rowOf, skeletonPanels } from "./layout.js";
import { Panel, WITHOUT_ROWS, widthStep } from "./panels.js";
import { Refreshing } from "./refreshing.js";
import { PanelRequests } from "./requests.js";
import { DAY } from "./times.js";

const NOT_DRAWN = { code: "not_drawn", message: "This panel could not be drawn. Its rows can be downloaded." };
const NO_FILE = { code: "no_file", message: "The file could not be made. Please try again." };

export class Dashboard {
  /** @type {Map<string, Panel>} */
  #panels = new Map();
  /** The panels and controls whose current errors were already reported to the host. */
  #told = new Set();
  /** The panels and choices that are missing because the server did not answer. */
  #left = { panels: [], choices: [] };

  /**
   * @param {{root: HTMLElement, session: import("./embed/session.js").Session, mount: string, announce: (text: string) => void,
   *   open: (name: string, fragment: string, notes: string[]) => void, changed: (dashboard: Dashboard) => void, look: () => void, colorsOf: (name: string) => Record<string, Record<string, number>>, keepColors: () => void, revised: (revision: string) => void,
   *   restart: () => void, broken: (why: string) => void, live: boolean, connection: import("./connection.js").Connection}} page
   * @param {string} name
   * @param {string} fragment
   */
  constructor(page, name, fragment) {
    this.page = page;
    this.name = name;
    this.fragment = fragment;
    this.path = `${page.mount}/${name.split("/").map(encodeURIComponent).join("/")}/-/panels`;
    this.filters = new Filters();
    this.requests = new PanelRequests(page.session, this.path, { message: (message) => this.#receive(message), came: () => this.#came(), failed: (...about) => this.#failed(...about) });
    this.refreshing = new Refreshing(this);
  }

  /**
   * Requests everything. If the server has drawn places for the panels, it is asked for the width of each place, otherwise for the width of
   * the page.
   */
  start() {
    const places = skeletonPanels(this.page.root);
    const wanted = places.filter(({ kind }) => !WITHOUT_ROWS.has(kind)).map(({ id, element }) => ({ id, width: widthStep(element.clientWidth - 32) }));
    const given = this.page.session.filters;
    this.asked = { given, fragment: this.fragment };
    const first = new Filters(asTheyAre(Object.keys(given)));
    first.set(given);
    const chosen = { ...first.chosen, ...rawFilters(this.fragment) };
    const width = widthStep(this.page.root.clientWidth);
    return this.requests.ask(places.length ? wanted : null, { filters: chosen, definition: true, width, ...this.#live() });
  }

  /** @returns {Panel[]} the panels that show rows */
  get fed() {
    return [...this.#panels.values()].filter((panel) => panel.hasRows);
  }

  #receive(message) {
    if (message.dashboard) return this.#build(message.dashboard);
    if (message.panel) this.#show(message);
    else if (message.choices) this.#fill(message);
    else if (message.changed) this.ask(message.changed);
    else if (message.revision) this.page.revised(message.revision);
    else if (message.broken) this.page.broken(message.broken);
    else if (message.group === "changed") this.page.restart();
    else if (message.token === "ended") this.resume(this.requests.stop()); // the session asks the host for another token
  }

  async #show(message) {
    const panel = this.#panels.get(message.panel);
    if (!panel?.hasRows) return;
    panel.coming = message;
    try {
      if (panel.missing) await panel.missing;
      if (panel.coming !== message) return; // it was requested again meanwhile, or the page shows another dashboard
      panel.show(message);
      panel.coming = null;
      this.tell({ panel: panel.id }, message.error);
    } catch (error) {
      console.error(error); // a mistake in one panel must not affect the others
      panel.fail(NOT_DRAWN.message);
      this.tell({ panel: panel.id }, NOT_DRAWN);
    }
    this.refreshing.came(panel);
    this.#settle();
  }

  /** When no message is expected any more, redraws panels with outdated colours and keeps the colours of the names. */
  #settle() {
    const { panels, choices } = this.requests.pending;
    if (panels.length || choices.length || this.fed.some(({ coming }) => coming)) return;
    this.#recolor();
    if (this.colors.settle()) this.page.keepColors();
  }

  /** Redraws the panels that show outdated colours. */
  #recolor() {
    if (this.outdated) for (const panel of this.fed) panel.inner.recolor?.();
    this.outdated = false;
  }

  #fill({ choices, values, error }) {
    if (error) this.controls.fail(choices, error.message);
    else {
      this.controls.fill(choices, values);
      this.colors.fill(choices, values);
    }
    this.tell({ control: choices }, error);
    this.#settle();
  }

  /**
   * Reports an error that the viewer sees to the host. While the error lasts, it is reported only once.
   * @param {{panel: string} | {control: string}} place
   * @param {{code: string, message: string}} [error] undefined if there is no error, or if it has ended
   */
  tell(place, error) {
    const key = JSON.stringify(place);
    if (!error) this.#told.delete(key);
    else if (!this.#told.has(key)) this.page.session.send("error", { ...error, ...place });
    if (error) this.#told.add(key);
  }

  #build(about) {
    this.about = about;
    this.formats = new Formats(about.locale, about.currency);
    const { given, fragment } = this.asked;
    this.filters = filtersOf(about, given, fragment);
    this.controls = new Controls(this.filters, this.formats, { change: (values) => this.choose(values), ask: (name) => this.ask([], [name]) });
    this.logo = html("img", { class: "logo", alt: "", hidden: true, error: () => (this.logo.hidden = true) });
    const soon = settled(() => this.#recolor(), 0);
    const changed = () => soon((this.outdated = true));
    this.colors = new SeriesColors(about, () => this.page.look(), changed, this.page.colorsOf(this.name));
    this.page.look();
    const rows = about.rows.map((row) => rowOf(row, row.map((panel) => this.#panel(panel).element)));
    this.element = html("div", { class: "dashboard" }, this.#head(about), this.controls.element, this.controls.chips, html("div", { class: "rows" }, ...rows));
    this.page.show(this);
    this.#askRest();
  }

  /** Requests the panels that were not requested together with the definition. If the server had drawn no places, these are all panels. */
  #askRest() {
    const pending = new Set(this.requests.pending.panels);
    for (const panel of this.fed) panel.waiting();
    for (const panel of this.fed) panel.measure();
    this.ask(this.fed.filter(({ id }) => !pending.has(id)).map(({ id }) => id));
  }

  /** Draws every panel for its current width. */
  draw() {
    for (const panel of this.fed) panel.fit();
  }

  /** @param {string} [address] of an image next to the title */
  showLogo(address) {
    this.logo.hidden = !address;
    if (address) this.logo.src = address;
  }

  #head({ title, description }) {
    return html("header", { class: "head" }, this.logo, html("div", {}, html("h1", {}, title), description ? html("p", { class: "about" }, description) : null));
  }

  #panel(about) {
    const panel = new Panel(about, {
      formats: this.formats,
      colors: this.colors,
      announce: this.page.announce,
      ask: (more) => this.ask([about.id], [], more),
      choice: () => Object.entries(this.filters.chosen).filter(([name]) => !about.reads || about.reads.includes(name)),
      choose: (clicked) => choose(this, about, clicked),
      isChosen: (record) => isChosen(about.click, this.filters, record),
      zoom: (from, to, by) => this.#zoom(about, from, to, by),
      isFiltered: () => Object.keys(this.filters.chosen).length > 0,
      reset: () => this.replace({}),
      failed: (error) => this.tell({ panel: about.id }, error),
      download: () => this.#download(about.id),
      explain: this.about.preview ? () => this.#explain(about.id) : null,
    });
    this.#panels.set(about.id, panel);
    return panel;
  }

  /**
   * @param {string[]} ids of panels to request
   * @param {string[]} [choices] controls whose choices to request
   */
  ask(ids, choices = [], more = {}) {
    const panels = ids.map((id) => this.#panels.get(id)).filter((panel) => panel?.hasRows);
    for (const panel of panels) panel.waiting();
    if (!panels.length && !choices.length && !more.shown) return;
    this.requests.ask(panels.map(({ wanted }) => wanted), { filters: this.filters.chosen, ...(choices.length ? { choices } : {}), ...more, ...this.#live() });
  }

  /** Keeps one response open for changes, if this takes no connection away from other frames. */
  #live() {
    return this.page.live && !this.requests.live ? { live: true } : {};
  }

  /**
   * Requests the missing panels and choices. Also asks whether the group's token is still valid, and which of the visible rows have
   * changed.
   * @param {import("./requests.js").Left} left
   */
  check({ panels, choices }) {
    const coming = new Set([...panels, ...this.requests.pending.panels]);
    const shown = this.fed.filter(({ id, asOf }) => asOf && !coming.has(id)).map(({ id, asOf }) => [id, asOf]);
    this.ask(panels, choices, { shown: Object.fromEntries(shown) });
  }

  /**
   * Continues after requests were interrupted.
   * @param {import("./requests.js").Left} left the panels and choices that are missing
   */
  resume(left) {
    if (this.about) this.check(left);
    else this.start(); // its definition has not arrived
  }

  /** Call this when the viewer chooses values. */
  choose(values) {
    this.#chose(this.filters.set(values));
  }

  /** Replaces all choices. A control that is not named gets its default. */
  replace(values) {
    this.#chose(this.filters.replace(values));
  }

  /** Stops running requests, and requests only the panels and choices that read a changed filter. */
  #chose(changed) {
    this.controls.show();
    if (!changed.length) return;
    this.page.changed(this);
    this.#askChanged(changed, this.requests.stop());
  }

  /**
   * @param {string[]} changed names of filters
   * @param {import("./requests.js").Left} left further panels and choices to request
   */
  #askChanged(changed, left) {
    const affected = this.fed.filter(({ about }) => changed.length && (!about.reads || about.reads.some((name) => changed.includes(name))));
    for (const panel of affected) panel.inner.restart?.();
    const choices = this.about.controls.filter(({ depends }) => depends?.some((name) => changed.includes(name))).map(({ name }) => name);
    this.ask(all(left.panels, affected.map(({ id }) => id)), all(left.choices, choices));
  }

  /** If the page has a control for a range, sets it to the part of the time axis that the viewer dragged over, and returns true. */
  #zoom(about, from, to, by) {
    const ranges = this.about.controls.filter(({ kind, name }) => kind === "range" && (!about.reads || about.reads.includes(name)));
    if (by.kind !== "time" || ranges.length !== 1 || to - from < DAY) return false;
    const day = (at) => new Date(at).toISOString().slice(0, 10);
    this.choose({ [ranges[0].name]: { start: day(from), end: day(to) } });
    return true;
  }

  async #explain(id) {
    const response = await this.#post(`/${id}/explanation`, {});
    return response?.ok ? (await response.json()).text : "The explanation could not be made. Please try again.";
  }

  /** The response, or null if the server cannot be reached. */
  #post(what, more) {
    const body = JSON.stringify({ filters: this.filters.chosen, ...more });
    return this.page.session.fetch(this.path + what, { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => null);
  }

  async #download(id) {
    const decimal_comma = (0.5).toLocaleString(this.formats.locale).includes(",");
    const response = await this.#post(`/${id}/download`, { decimal_comma });
    if (!response?.ok) {
      this.page.announce(NO_FILE.message);
      return this.page.session.send("error", { ...NO_FILE, panel: id });
    }
    const { address } = await response.json();
    html("a", { href: address, download: "" }).click();
  }

  #failed(error, left) {
    if (!error.isLost) this.page.connection.came();
    if (!this.about || error.status === 401) return this.page.refused(error, this);
    if (error.isLost) return this.#lost(left);
    const reason = { code: "refused", message: "The server refused this.", ...error.reason };
    for (const name of left.choices) this.#fill({ choices: name, error: reason });
    for (const panel of left.panels) this.#show({ panel, error: reason });
  }

  /** Remembers panels and choices to request when the server answers again. */
  #lost({ panels, choices }) {
    this.#left = { panels: all(this.#left.panels, panels), choices: all(this.#left.choices, choices) };
    for (const id of panels) this.#panels.get(id)?.lost();
    this.page.connection.broke();
  }

  #came() {
    this.page.connection.came();
    if (this.#left.panels.length + this.#left.choices.length) this.again();
  }

  /** Requests the panels and choices that are missing. */
  again() {
    const left = this.#left;
    this.#left = { panels: [], choices: [] };
    this.resume(left);
  }

  /** The reason why the server does not accept these filters. Null if it accepts them or does not answer. */
  async refusal(filters) {
    const response = await this.#post("", { filters, panels: [] });
    return response?.status === 422 ? (await response.json()).error : null;
  }

  /** Ends all work for this dashboard. */
  end() {
    this.requests.stop(true);
    this.refreshing.end();
    for (const panel of this.#panels.values()) panel.coming = null;
  }
}

/** The names of both lists, without duplicates. */
function all(some, others) {
  return [...new Set([...some, ...others])];
}

/** The choices of the host and those in the address, which take precedence. */
function filtersOf(about, given, fragment) {
  const filters = new Filters(about.controls);
  filters.set(given);
  filters.read(fragment);
  return filters;
}

/**
 * The filters in the address as they are written there, because the controls are not known yet. The server also understands a range that is
 * written as two days.
 */
function rawFilters(fragment) {
  const filters = new Filters(asTheyAre(new URLSearchParams(fragment.replace(/^#/, "")).keys()));
  filters.read(fragment);
  return filters.chosen;
}
