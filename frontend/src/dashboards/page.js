// The entry of the page: a session with the server, and the dashboard that the address names.

import { html } from "./dom.js";
import { Dashboard } from "./dashboard.js";
import { connect } from "./session.js";
import { applyTheme } from "./theme.js";

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

class Page {
  /** @type {{name: string, fragment: string, title: string}[]} the dashboards that led here */
  #before = [];

  constructor(root, session, mount) {
    this.root = root;
    this.session = session;
    this.mount = mount;
    this.live = /^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol ?? "");
    this.embedded = parent !== window;
    this.speaker = html("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.announce = (text) => {
      this.speaker.textContent = text;
    };
    session.on("filters", (filters) => this.dashboard.about && this.dashboard.choose(filters));
    session.on("theme", (theme) => applyTheme(theme));
    session.on("ended", () => this.ended());
    addEventListener("pagehide", () => this.dashboard.end());
  }

  start(name, fragment) {
    this.dashboard?.end();
    this.dashboard = new Dashboard(this, name, fragment);
    this.dashboard.start();
  }

  /** Another dashboard takes this one's place: the document stays, and with it the token. */
  open(name, values) {
    const parts = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
    this.#before.push({ name: this.dashboard.name, fragment: location.hash, title: this.dashboard.about.title });
    this.#go(name, parts.size ? `#${parts}` : "");
  }

  #back() {
    const { name, fragment } = this.#before.pop();
    this.#go(name, fragment);
  }

  #go(name, fragment) {
    history.replaceState(null, "", `${this.mount}/${name}${fragment}`);
    this.start(name, fragment);
  }

  /** @param {Dashboard} dashboard whose definition has come */
  show(dashboard) {
    const { about, element } = dashboard;
    const before = this.#before.at(-1);
    const back = before ? html("button", { type: "button", class: "back link", click: () => this.#back() }, `← ${before.title}`) : null;
    if (back) element.prepend(back);
    document.title = about.title;
    const main = html("main", { class: "page" }, element);
    this.root.replaceChildren(main, this.speaker);
    if (back) element.querySelector("h1").scrollIntoView({ block: "nearest" });
    this.#watchHeight(main);
    this.session.send("ready");
  }

  #watchHeight(main) {
    this.heights?.disconnect();
    this.heights = new ResizeObserver(() => this.session.send("height", Math.ceil(main.getBoundingClientRect().height)));
    this.heights.observe(main);
  }

  /** The viewer chose: the address keeps it. */
  changed(dashboard) {
    const { fragment, chosen } = dashboard.filters;
    history.replaceState(null, "", `${location.pathname}${location.search}${fragment ? `#${fragment}` : ""}`);
    this.session.send("filters", chosen);
  }

  /** The group's token has died. */
  ended() {
    this.dashboard.end();
    this.#say("This access has ended", "Please load the page around this dashboard again, or ask who gave it to you.");
  }

  /** Nothing came: the address, or the connection. */
  refused(error, dashboard) {
    this.session.send("error", { status: error.status });
    if (error.status === 401 || error.status === 403) return this.ended();
    if (error.status === 422 || error.status === 400) {
      const reset = () => {
        history.replaceState(null, "", location.pathname + location.search);
        this.start(dashboard.name, "");
      };
      return this.#say("This choice cannot be shown", error.problem?.detail ?? "The address holds a filter that this dashboard does not have.", "Show the defaults", reset);
    }
    if (error.status === 404) return this.#say("There is no such dashboard", "It may have been renamed.");
    this.#say("The dashboard could not be loaded", "Please try again shortly.", "Try again", () => this.start(dashboard.name, dashboard.fragment));
  }

  #say(title, text, label, run) {
    const button = label ? html("button", { type: "button", class: "button", click: run }, label) : null;
    this.root.replaceChildren(html("main", { class: "page" }, html("div", { class: "notice", role: "alert" }, html("h1", {}, title), html("p", {}, text), button)), this.speaker);
  }
}

const root = document.getElementById("dashboard");
const mount = meta("tenantry-mount");
const session = await connect({ mount, hosts: meta("tenantry-hosts").split(" ").filter(Boolean) });
new Page(root, session, mount).start(root.dataset.name, location.hash);
