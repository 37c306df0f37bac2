// The entry of the page: a session with the server, and the dashboard that the address names.

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
  /** @type {{name: string, fragment: string, title: string}[]} the dashboards that led here */
  #before = history.state?.before ?? [];
  #paper;
  /** @type {string[]} what a viewer should know of the click that led here */
  #notes = history.state?.notes ?? [];
  #colors;
  /** Whether the host still has the filters of the dashboard before. */
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

  /** Asks for what had not come. */
  #again() {
    const { dashboard } = this;
    if (dashboard.about) dashboard.again();
    else this.start(dashboard.name, dashboard.fragment);
  }

  /**
   * Another dashboard takes this one's place: the document stays, and with it the token.
   * @param {string} name
   * @param {string} fragment its filters, without #
   * @param {string[]} notes in which way its numbers are others than what was clicked
   */
  open(name, fragment, notes) {
    const { filters, about } = this.dashboard;
    this.#keep(filters.fragment); // what the host gave is not in it yet
    this.#visit(name, fragment, [...this.#before, { name: this.dashboard.name, fragment: filters.fragment, title: about.title }], notes);
  }

  /** No history.back(): the last step may be another frame's, or the host's. */
  #back() {
    const { name, fragment } = this.#before.at(-1);
    this.#visit(name, fragment, this.#before.slice(0, -1));
  }

  /** @returns {HTMLElement[]} a button, where a click led here */
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
    this.session.filters = {}; // those were of the dashboard before, and what is kept of them is in the fragment
    this.start(name, fragment);
  }

  /** In the address. */
  #keep(fragment) {
    history.replaceState(history.state, "", addressOf(location.pathname, fragment));
  }

  /** The colours that the names of a dashboard had when it was last shown. */
  colorsOf(name) {
    return (this.#colors[`/${name}`] ??= {}); // a key that no object has by itself
  }

  /** They stay for a reload, and for a frame that the host makes anew. */
  keepColors() {
    history.replaceState({ ...history.state, colors: this.#colors }, "");
    this.session.send("colors", this.#colors);
  }

  /** Draws the page by the theme of the group, and by the host's, which counts for more. */
  look() {
    const { about, colors } = this.dashboard ?? {};
    const { logo, modes } = applyTheme(colors?.own ?? [], about?.theme, this.session.theme);
    if (!colors) return;
    this.dashboard.showLogo(logo);
    colors.see(modes);
  }

  /** @param {Dashboard} dashboard whose definition has come */
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
    const isNew = filters !== dashboard.asked.given; // set while the definition was on its way
    if (!isNew && (this.#outdated || !alike(chosen, filters))) this.#tell(chosen); // of the address, or kept by a click
    this.#paper ??= load("print.js").then(({ onPaper }) => onPaper(this), () => (this.#paper = null));
    this.session.send("ready", { name: dashboard.name, title: about.title, path: location.pathname });
    if (isNew) this.given(filters);
  }

  /** The viewer chose: the address keeps it. */
  changed(dashboard) {
    const { fragment, chosen } = dashboard.filters;
    this.#keep(fragment);
    this.#tell(chosen);
  }

  /**
   * The host's call counts for more than what was chosen before it, also in the address. The server says first whether
   * it takes them: a viewer never sees a mistake of the host's.
   */
  async given(filters) {
    const { dashboard } = this;
    if (!dashboard.about) {
      dashboard.fragment = ""; // its definition finds what the host gave in the session
      return;
    }
    const refusal = await dashboard.refusal(filters);
    if (filters !== this.session.filters || dashboard !== this.dashboard) return; // others came meanwhile
    if (!refusal) return dashboard.replace(filters);
    this.session.filters = dashboard.filters.chosen;
    this.session.send("kept", this.session.filters);
    this.#mistaken(refusal);
  }

  /** For the developer of the host's page. */
  #mistaken({ message }) {
    console.error(`tenantry-dashboard: invalid filters: ${message}`);
    this.session.send("error", { code: "invalid_filters", message });
  }

  /** To the host. What it gave at first counts no more. */
  #tell(chosen) {
    this.#outdated = false;
    Object.assign(this.session, { filters: chosen, given: false });
    this.session.send("filters", chosen);
  }

  /** The files of the dashboard are of this revision, which only their author is told. */
  revised(revision) {
    const before = this.revision;
    this.revision = revision;
    if (before && before !== revision) this.restart();
  }

  /** With the choices that the address keeps: the files have changed, or what the group may see. */
  restart() {
    this.start(this.dashboard.name, location.hash);
  }

  /** They cannot be used: what is wrong, and where, until they are of another revision. */
  broken(detail) {
    this.session.send("error", { code: "broken", message: detail });
    this.#say(notice("broken", { detail }));
  }

  /** The group's token has died. */
  ended(code = "ended") {
    this.dashboard.end();
    this.connection.came();
    this.#say(notice(code === "no_session" || code === "cookies_blocked" ? code : "ended"));
  }

  /** Nothing came: the address, the connection or the token. */
  refused(error, dashboard) {
    const { status, reason } = error;
    if (status === 401) return; // the session has said so already
    const { filters } = this.session;
    const isOther = !alike(dashboard.asked.given, filters);
    if (status === 422 && (isOther || Object.keys(filters).length)) {
      if (!isOther && this.session.given) this.#mistaken(reason);
      if (!isOther) this.#tell({}); // what the host has kept may be another dashboard's
      return this.start(dashboard.name, dashboard.fragment);
    }
    if (status === 422 && this.session.isHosted && dashboard.asked.fragment && !this.#before.length) { // of the host's src
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
