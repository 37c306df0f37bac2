// The entry point of the page: connects a session to the server, and shows the dashboard that the address names.

import { load } from "./chunks.js";
import { html } from "./dom.js";
import { Connection } from "./connection.js";
import { Dashboard } from "./dashboard.js";
import { mayStayOpen } from "./live.js";
import { isSaid, notice } from "./notices.js";
import { connect, reportHeight } from "./embed/child.js";
import { applyTheme } from "./theme.js";
import { watermark } from "./watermark.js";

const CODES = { 404: "unknown_dashboard", 422: "invalid_filters" };

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

class Page {
  /** @type {{name: string, fragment: string, title: string}[]} the dashboards from which the viewer came here */
  #before = history.state?.before ?? [];
  #paper;
  /** @type {string[]} notes for the viewer about the click that led here */
  #notes = history.state?.notes ?? [];
  #colors;
  /** Whether the host still has the filters of the previous dashboard. */
  #outdated = false;

  constructor(root, session, mount, live) {
    this.root = root;
    this.session = session;
    this.mount = mount;
    this.live = live;
    this.#colors = history.state?.colors ?? session.colors ?? {};
    this.speaker = html("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.announce = (text) => {
      this.speaker.textContent = text;
    };
    this.connection = new Connection({ again: () => this.#again(), lost: (text) => this.#lost(text) });
    session.on("filters", (filters) => this.given(filters));
    session.on("theme", () => this.look());
    this.look();
    session.on("ended", ({ code }) => this.ended(code));
    addEventListener("pagehide", () => this.dashboard.end());
    addEventListener("popstate", ({ state }) => this.#go(decodeURI(location.pathname.slice(mount.length + 1)), location.hash, state?.before ?? [], state?.notes ?? []));
  }

  start(name, fragment) {
    this.dashboard?.end();
    this.dashboard = new Dashboard(this, name, fragment);
    this.dashboard.start();
  }

  #lost(message) {
    this.announce(message);
    this.session.send("error", { code: "unreachable", message });
  }

  /** Requests what is missing. */
  #again() {
    const { dashboard } = this;
    if (dashboard.about) dashboard.again();
    else this.start(dashboard.name, dashboard.fragment);
  }

  /**
   * Shows another dashboard. The document stays, and with it the token.
   * @param {string} name
   * @param {string} fragment the filters of the dashboard, without #
   * @param {string[]} notes notes for the viewer about why its numbers may differ from those that were clicked
   */
  open(name, fragment, notes) {
    const { filters, about } = this.dashboard;
    this.#keep(filters.fragment); // filters from the host are not in the address yet
    this.#visit(name, fragment, [...this.#before, { name: this.dashboard.name, fragment: filters.fragment, title: about.title }], notes);
  }

  /** Does not use history.back(), because the last entry may belong to another frame or to the host. */
  #back() {
    const { name, fragment } = this.#before.at(-1);
    this.#visit(name, fragment, this.#before.slice(0, -1));
  }

  /** @returns {HTMLElement[]} a button to go back, if a click led here */
  #wayBack() {
    const before = this.#before.at(-1);
    return before ? [html("button", { type: "button", class: "back link", click: () => this.#back() }, `← ${before.title}`)] : [];
  }

  #visit(name, fragment, before, notes = []) {
    history.pushState({ before, notes, colors: this.#colors }, "", addressOf(`${this.mount}/${name}`, fragment));
    this.#go(name, fragment, before, notes);
  }

  #go(name, fragment, before, notes) {
    [this.#before, this.#notes] = [before, notes];
    this.#outdated ||= Object.keys(this.session.filters).length > 0;
    this.session.filters = {}; // these were the filters of the previous dashboard; those that still apply are in the fragment
    this.start(name, fragment);
  }

  /** Writes the choices to the address. */
  #keep(fragment) {
    history.replaceState(history.state, "", addressOf(location.pathname, fragment));
  }

  /** The colours that the names of a dashboard had when it was last shown. */
  colorsOf(name) {
    return (this.#colors[`/${name}`] ??= {}); // the prefix avoids names that every object has
  }

  /** Keeps the colours for a reload, and for a frame that the host makes again. */
  keepColors() {
    history.replaceState({ ...history.state, colors: this.#colors }, "");
    this.session.send("colors", this.#colors);
  }

  /** Applies the group's theme and the host's theme, which takes precedence. */
  look() {
    const { about, colors } = this.dashboard ?? {};
    const { logo, modes } = applyTheme(colors?.own ?? [], about?.theme, this.session.theme);
    if (!colors) return;
    this.dashboard.showLogo(logo);
    colors.see(modes);
  }

  /** @param {Dashboard} dashboard a dashboard whose definition has arrived */
  show(dashboard) {
    const { about, element } = dashboard;
    const back = this.#wayBack();
    element.prepend(...back);
    element.querySelector(".head").after(...this.#notes.map((text) => html("p", { class: "count", role: "note" }, text)));
    document.title = about.title;
    const main = html("main", {}, ...watermark(about.preview), this.connection.banner, html("div", { class: "page" }, element));
    this.root.replaceChildren(main, this.speaker);
    if (back.length) element.querySelector("h1").scrollIntoView({ block: "nearest" });
    const { chosen } = dashboard.filters;
    const { filters } = this.session;
    const isNew = filters !== dashboard.asked.given; // the host has set filters while the definition was requested
    if (!isNew && (this.#outdated || !alike(chosen, filters))) this.#tell(chosen); // they come from the address, or from a click
    this.#paper ??= load("print.js").then(({ onPaper }) => onPaper(this), () => (this.#paper = null));
    this.session.send("ready", { name: dashboard.name, title: about.title, path: location.pathname });
    if (isNew) this.given(filters);
  }

  /** Call this when the viewer has chosen: writes the choices to the address and reports them to the host. */
  changed(dashboard) {
    const { fragment, chosen } = dashboard.filters;
    this.#keep(fragment);
    this.#tell(chosen);
  }

  /**
   * Applies filters of the host, which replace all earlier choices, also those in the address. The server checks them first, so that a
   * viewer never sees a mistake of the host.
   */
  async given(filters) {
    const { dashboard } = this;
    if (!dashboard.about) {
      dashboard.fragment = ""; // the definition will be requested with the filters in the session
      return;
    }
    const refusal = await dashboard.refusal(filters);
    if (filters !== this.session.filters || dashboard !== this.dashboard) return; // the host has set others meanwhile
    if (!refusal) return dashboard.replace(filters);
    this.session.filters = dashboard.filters.chosen;
    this.session.send("kept", this.session.filters);
    this.#mistaken(refusal);
  }

  /** Reports a mistake to the developer of the host's page. */
  #mistaken({ message }) {
    console.error(`tenantry-dashboard: invalid filters: ${message}`);
    this.session.send("error", { code: "invalid_filters", message });
  }

  /** Reports the choices to the host. The filters that it set at first are no longer used. */
  #tell(chosen) {
    this.#outdated = false;
    Object.assign(this.session, { filters: chosen, given: false });
    this.session.send("filters", chosen);
  }

  /** Handles the revision of the dashboard's files, which the server sends only to their author. */
  revised(revision) {
    const before = this.revision;
    this.revision = revision;
    if (before && before !== revision) this.restart();
  }

  /** Loads the dashboard again with the choices in the address, because its files have changed, or what the group may see. */
  restart() {
    this.start(this.dashboard.name, location.hash);
  }

  /** Shows why the files of the dashboard cannot be used, until there is another revision of them. */
  broken(detail) {
    this.session.send("error", { code: "broken", message: detail });
    this.#say(notice("broken", { detail }));
  }

  /** Call this when the group's token is no longer valid. */
  ended(code = "ended") {
    this.dashboard.end();
    this.connection.came();
    this.#say(notice(code === "no_session" || code === "cookies_blocked" ? code : "ended"));
  }

  /** Handles a dashboard that could not be loaded because of the address, the connection or the token. */
  refused(error, dashboard) {
    const { status, reason } = error;
    if (status === 401) return; // the session has already reported this
    const { filters } = this.session;
    const isOther = !alike(dashboard.asked.given, filters);
    if (status === 422 && (isOther || Object.keys(filters).length)) {
      if (!isOther && this.session.given) this.#mistaken(reason);
      if (!isOther) this.#tell({}); // the filters that the host has kept may belong to another dashboard
      return this.start(dashboard.name, dashboard.fragment);
    }
    if (status === 422 && this.session.isHosted && dashboard.asked.fragment && !this.#before.length) { // the filters are in the host's `src`
      this.#mistaken(reason);
      return this.#defaults(dashboard);
    }
    const code = CODES[status] ?? (error.isLost ? "unreachable" : (reason?.code ?? "forbidden"));
    if (error.isLost) this.connection.broke();
    else this.session.send("error", { code, message: reason?.message });
    const buttons = {
      unreachable: { label: "Try again", run: () => this.#again() },
      invalid_filters: { detail: reason?.message, label: "Show the defaults", run: () => this.#defaults(dashboard) },
    };
    const message = notice(isSaid(code) ? code : "forbidden", buttons[code]);
    message.prepend(...this.#wayBack());
    this.#say(message);
  }

  #defaults(dashboard) {
    this.#keep("");
    this.#tell({});
    this.start(dashboard.name, "");
  }

  #say(message) {
    this.root.replaceChildren(message, this.speaker);
  }
}

function addressOf(path, fragment) {
  return path + location.search + (fragment && `#${fragment}`);
}

function alike(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function open() {
  const root = document.getElementById("dashboard");
  const mount = meta("tenantry-mount");
  const hosts = meta("tenantry-hosts").split(" ").filter(Boolean);
  try {
    const [session, live] = await Promise.all([connect({ mount, hosts }), mayStayOpen()]);
    reportHeight(session, root);
    new Page(root, session, mount, live).start(root.dataset.name, location.hash);
  } catch (error) {
    if (!error.code) throw error;
    root.replaceChildren(notice(error.code));
  }
}

open();
