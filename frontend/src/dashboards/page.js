// The entry of the page: a session with the server, and the dashboard that the address names.

import { ownColors } from "./charts/colors.js";
import { html } from "./dom.js";
import { Dashboard } from "./dashboard.js";
import { mayStayOpen } from "./live.js";
import { isSaid, notice } from "./notices.js";
import { connect, reportHeight } from "./embed/child.js";
import { applyTheme } from "./theme.js";
import { watermark } from "./watermark.js";

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

class Page {
  /** @type {{name: string, fragment: string, title: string}[]} the dashboards that led here */
  #before = [];

  constructor(root, session, mount, live) {
    this.root = root;
    this.session = session;
    this.mount = mount;
    this.live = live;
    this.speaker = html("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.announce = (text) => {
      this.speaker.textContent = text;
    };
    session.on("filters", (filters) => this.#given(filters));
    session.on("theme", () => this.look());
    this.look();
    session.on("ended", ({ code }) => this.ended(code));
    addEventListener("pagehide", () => this.dashboard.end());
  }

  start(name, fragment) {
    this.dashboard?.end();
    this.dashboard = new Dashboard(this, name, fragment);
    this.dashboard.start();
  }

  /**
   * Another dashboard takes this one's place: the document stays, and with it the token.
   * @param {string} name
   * @param {string} fragment its filters, without #
   */
  open(name, fragment) {
    const { filters, about } = this.dashboard;
    this.#before.push({ name: this.dashboard.name, fragment: filters.fragment, title: about.title });
    this.#go(name, fragment);
  }

  #back() {
    const { name, fragment } = this.#before.pop();
    this.#go(name, fragment);
  }

  /** @returns {HTMLElement[]} a button, where a click led here */
  #wayBack() {
    const before = this.#before.at(-1);
    return before ? [html("button", { type: "button", class: "back link", click: () => this.#back() }, `← ${before.title}`)] : [];
  }

  #go(name, fragment) {
    this.session.filters = {}; // those were of the dashboard before, and what is kept of them is in the fragment
    history.replaceState(null, "", `${this.mount}/${name}${location.search}${fragment && `#${fragment}`}`);
    this.start(name, fragment);
  }

  /** Draws the page by the theme of the group, and by the host's, which counts for more. Returns the colours. */
  look() {
    const about = this.dashboard?.about;
    const { logo, tokens } = applyTheme(about ? ownColors(about) : [], about?.theme, this.session.theme);
    if (about) this.dashboard.showLogo(logo);
    return tokens;
  }

  /** @param {Dashboard} dashboard whose definition has come */
  show(dashboard) {
    const { about, element } = dashboard;
    const back = this.#wayBack();
    element.prepend(...back);
    document.title = about.title;
    const main = html("main", { class: "page" }, element);
    this.root.replaceChildren(...watermark(about.preview), main, this.speaker);
    if (back.length) element.querySelector("h1").scrollIntoView({ block: "nearest" });
    const { chosen } = dashboard.filters;
    if (!alike(chosen, this.session.filters)) this.#tell(chosen); // of the address, or kept by a click
    this.session.send("ready", { name: dashboard.name, title: about.title, path: location.pathname });
  }

  /** The viewer chose: the address keeps it. */
  changed(dashboard) {
    const { fragment, chosen } = dashboard.filters;
    history.replaceState(null, "", `${location.pathname}${location.search}${fragment && `#${fragment}`}`);
    this.#tell(chosen);
  }

  /** The host's call counts for more than what was chosen before it, also in the address. */
  #given(filters) {
    const { dashboard } = this;
    if (!dashboard.about) {
      dashboard.fragment = ""; // its definition finds what the host gave in the session
      return;
    }
    dashboard.replace(filters);
  }

  /** To the host. What it gave at first counts no more. */
  #tell(chosen) {
    this.session.filters = chosen;
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
    this.#say(notice("broken", { detail }));
  }

  /** The group's token has died. */
  ended(code = "ended") {
    this.dashboard.end();
    this.#say(notice(code === "no_session" || code === "cookies_blocked" ? code : "ended"));
  }

  /** Nothing came: the address, the connection or the token. */
  refused({ status, reason }, dashboard) {
    if (status === 401) return; // the session has said so already
    if (status === 422 && !alike(dashboard.asked.given, this.session.filters)) return this.start(dashboard.name, dashboard.fragment);
    if (status === 422 && Object.keys(this.session.filters).length) {
      this.#tell({}); // what the host has kept may be another dashboard's
      return this.start(dashboard.name, dashboard.fragment);
    }
    this.session.send("error", { code: reason?.code ?? "unreachable" });
    const message = this.#refusal(status, reason, dashboard);
    message.prepend(...this.#wayBack());
    this.#say(message);
  }

  #refusal(status, reason, dashboard) {
    if (status === 403) return notice(isSaid(reason?.code) ? reason.code : "forbidden");
    if (status === 404) return notice("unknown");
    if (status === 422) return notice("filters", { detail: reason?.message, label: "Show the defaults", run: () => this.#defaults(dashboard) });
    return notice("unreachable", { label: "Try again", run: () => this.start(dashboard.name, dashboard.fragment) });
  }

  #defaults(dashboard) {
    history.replaceState(null, "", location.pathname + location.search);
    this.#tell({});
    this.start(dashboard.name, "");
  }

  #say(message) {
    this.root.replaceChildren(message, this.speaker);
  }
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
