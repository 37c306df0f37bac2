// One dashboard on the page: its definition becomes controls and panels, and messages go to the panels they are for.

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
  /** The panels and controls of whose errors the host has been told. */
  #told = new Set();
  /** What has not come, since the server did not answer. */
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

  /** Asks for everything: for the width of each place that the server has drawn, else for that of the page. */
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

  /** @returns {Panel[]} those that show rows */
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
    else if (message.token === "ended") this.resume(this.requests.stop()); // the session asks the host for another one
  }

  async #show(message) {
    const panel = this.#panels.get(message.panel);
    if (!panel?.hasRows) return;
    panel.coming = message;
    try {
      if (panel.missing) await panel.missing;
      if (panel.coming !== message) return; // asked for again meanwhile, or the page shows another dashboard
      panel.show(message);
      panel.coming = null;
      this.tell({ panel: panel.id }, message.error);
    } catch (error) {
      console.error(error); // a mistake in one panel is none of the others'
      panel.fail(NOT_DRAWN.message);
      this.tell({ panel: panel.id }, NOT_DRAWN);
    }
    this.refreshing.came(panel);
    this.#settle();
  }

  /** Once nothing is under way, colours stay. */
  #settle() {
    const { panels, choices } = this.requests.pending;
    if (panels.length || choices.length || this.fed.some(({ coming }) => coming)) return;
    this.#recolor();
    if (this.colors.settle()) this.page.keepColors();
  }

  /** Draws those anew that were drawn in colours of before. */
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
   * Tells the host of what a viewer sees as an error, once until it has gone.
   * @param {{panel: string} | {control: string}} place
   * @param {{code: string, message: string}} [error] nothing: there is none
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

  /** What was not asked with the definition: all, where no places were known before. */
  #askRest() {
    const pending = new Set(this.requests.pending.panels);
    for (const panel of this.fed) panel.waiting();
    for (const panel of this.fed) panel.measure();
    this.ask(this.fed.filter(({ id }) => !pending.has(id)).map(({ id }) => id));
  }

  /** Draws every panel for the width that it has. */
  draw() {
    for (const panel of this.fed) panel.fit();
  }

  /** @param {string} [address] of an image beside the title */
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
   * @param {string[]} ids of panels that are wanted again
   * @param {string[]} [choices] controls whose choices are wanted again
   */
  ask(ids, choices = [], more = {}) {
    const panels = ids.map((id) => this.#panels.get(id)).filter((panel) => panel?.hasRows);
    for (const panel of panels) panel.waiting();
    if (!panels.length && !choices.length && !more.shown) return;
    this.requests.ask(panels.map(({ wanted }) => wanted), { filters: this.filters.chosen, ...(choices.length ? { choices } : {}), ...more, ...this.#live() });
  }

  /** One answer stays open where that takes no connection from others. */
  #live() {
    return this.page.live && !this.requests.live ? { live: true } : {};
  }

  /**
   * Asks for what had not come, whether the group's token still holds, and which of the rows that are shown have changed.
   * @param {import("./requests.js").Left} left
   */
  check({ panels, choices }) {
    const coming = new Set([...panels, ...this.requests.pending.panels]);
    const shown = this.fed.filter(({ id, asOf }) => asOf && !coming.has(id)).map(({ id, asOf }) => [id, asOf]);
    this.ask(panels, choices, { shown: Object.fromEntries(shown) });
  }

  /**
   * Goes on after it was cut off.
   * @param {import("./requests.js").Left} left what had not come
   */
  resume(left) {
    if (this.about) this.check(left);
    else this.start(); // its definition had not come
  }

  /** A viewer chose. */
  choose(values) {
    this.#chose(this.filters.set(values));
  }

  /** These are all the choices: what is not named goes back to its default. */
  replace(values) {
    this.#chose(this.filters.replace(values));
  }

  /** What runs is stopped, and only what reads the change is asked again. */
  #chose(changed) {
    this.controls.show();
    if (!changed.length) return;
    this.page.changed(this);
    this.#askChanged(changed, this.requests.stop());
  }

  /**
   * @param {string[]} changed names of filters
   * @param {import("./requests.js").Left} left what is wanted besides the panels and choices that read them
   */
  #askChanged(changed, left) {
    const affected = this.fed.filter(({ about }) => changed.length && (!about.reads || about.reads.some((name) => changed.includes(name))));
    for (const panel of affected) panel.inner.restart?.();
    const choices = this.about.controls.filter(({ depends }) => depends?.some((name) => changed.includes(name))).map(({ name }) => name);
    this.ask(all(left.panels, affected.map(({ id }) => id)), all(left.choices, choices));
  }

  /** A part of the time that a viewer drags over becomes the page's range, where it has one. */
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

  /** The answer; null where none came. */
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

  /** They come when the server answers again. */
  #lost({ panels, choices }) {
    this.#left = { panels: all(this.#left.panels, panels), choices: all(this.#left.choices, choices) };
    for (const id of panels) this.#panels.get(id)?.lost();
    this.page.connection.broke();
  }

  #came() {
    this.page.connection.came();
    if (this.#left.panels.length + this.#left.choices.length) this.again();
  }

  /** Asks for what had not come. */
  again() {
    const left = this.#left;
    this.#left = { panels: [], choices: [] };
    this.resume(left);
  }

  /** Why the server would not take these for filters; null where it would, or does not answer. */
  async refusal(filters) {
    const response = await this.#post("", { filters, panels: [] });
    return response?.status === 422 ? (await response.json()).error : null;
  }

  /** Nothing of it is wanted any more. */
  end() {
    this.requests.stop(true);
    this.refreshing.end();
    for (const panel of this.#panels.values()) panel.coming = null;
  }
}

/** The names of both lists, each once. */
function all(some, others) {
  return [...new Set([...some, ...others])];
}

/** The host's choices, and those of an address, which count for more. */
function filtersOf(about, given, fragment) {
  const filters = new Filters(about.controls);
  filters.set(given);
  filters.read(fragment);
  return filters;
}

/** The filters of an address before the controls are known, as they stand there: the server reads a range of two days, too. */
function rawFilters(fragment) {
  const filters = new Filters(asTheyAre(new URLSearchParams(fragment.replace(/^#/, "")).keys()));
  filters.read(fragment);
  return filters.chosen;
}
