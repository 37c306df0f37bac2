/**
 * <tenantry-dashboard> shows a dashboard in a page on another site, which gives it passes of one viewer. In this file, "token" means a pass
 * or the token of a user group.
 *
 * The frame is in a shadow root, so that it is not in `window.frames` and the frames of other tenants on this page cannot reach it. Firefox
 * nevertheless shows it to frames of another site (docs/embedding.md). The token is sent to the frame's document only, through a port,
 * after both sides have checked each other.
 */

const PROTOCOL = 1;
const SANDBOX = "allow-scripts allow-same-origin allow-downloads";
/** Maximum height in pixels, because a page that grows with its frame would grow for ever. */
const TALLEST = 20_000;
/** Milliseconds without a message from the frame until this is an error. The usual reason: this page is not among the embedding hosts. */
const PATIENCE = 20_000;
/** Maximum milliseconds that `getToken` may take. */
const TOKEN_PATIENCE = 10_000;
/** The messages of the frame that become events for the host. */
const EVENTS = ["ready", "height", "filters", "error", "click"];

/** A host that renders on its server imports this file there too, where HTMLElement does not exist. */
const Base = globalThis.HTMLElement ?? class {};

export class TenantryDashboard extends Base {
  static observedAttributes = ["src", "name"];

  #root = this.attachShadow({ mode: "closed" });
  #frame = null;
  #holder = null;
  #origin = "";
  #port = null;
  /** A promise of the last token from the host: {token}, or {code} with the reason why there is none. */
  #token = null;
  #getToken = null;
  #gotFunction = null;
  #functionGiven = new Promise((resolve) => (this.#gotFunction = resolve));
  /** The chosen filters, or null if neither host nor viewer has chosen any. */
  #filters = null;
  /** Whether the host has set the filters for this dashboard. If they are refused, it is then the host's mistake. */
  #given = false;
  #theme = null;
  /** The colours of names, which the frame sends and gets back if it is made again. */
  #colors;
  /** The `src` whose fragment was already read. If the frame is made again, the chosen filters are used and not the fragment. */
  #begun = null;
  #planned = false;
  #following = false;
  #timer = 0;
  #renewal = 0;
  #unanswered = false;

  constructor() {
    super();
    if (Object.hasOwn(this, "getToken")) {
      const early = this.getToken; // The property was set before this class was loaded, so it hides the accessor.
      delete this.getToken;
      this.getToken = early;
    }
  }

  /** `() => Promise<string>`: returns a pass. Called at the start, before a pass ends, and once when a pass was refused. */
  get getToken() {
    return this.#getToken;
  }

  set getToken(ask) {
    this.#getToken = ask;
    if (ask) this.#gotFunction(ask);
  }

  /** The current choices of the viewer, by the names of the controls. */
  get filters() {
    return structuredClone(this.#filters ?? {});
  }

  /** Replaces all choices. A control that is not named gets its default. */
  setFilters(filters) {
    const wanted = copied("setFilters", filters);
    if (JSON.stringify(wanted) === JSON.stringify(this.#filters)) return; // otherwise a host that answers each event would loop for ever
    this.#filters = wanted;
    this.#given = true;
    this.#port?.postMessage({ type: "filters", data: wanted });
  }

  /** Replaces the host's theme. For a missing key, the group's theme is used. */
  setTheme(theme) {
    this.#theme = copied("setTheme", theme);
    this.#port?.postMessage({ type: "theme", data: this.#theme });
  }

  /** Loads the dashboard again, for example after an error. The filters stay. */
  reload() {
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      this.#stop();
      if (this.isConnected && this.hasAttribute("src")) this.#start();
    });
  }

  connectedCallback() {
    addEventListener("message", this.#onMessage);
    addEventListener("online", this.#onOnline);
    this.reload();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#onMessage);
    removeEventListener("online", this.#onOnline);
    this.#stop();
  }

  /** After a move by moveBefore(), the frame stays as it is. */
  connectedMoveCallback() {}

  attributeChangedCallback(_, before, after) {
    if (before === after || this.#following) return;
    if (before !== null) this.#given = false;
    if (this.isConnected) this.reload();
  }

  #onOnline = () => this.#unanswered && this.reload();

  #start() {
    let address;
    try {
      address = addressOf(this.getAttribute("src"), this.getAttribute("name"));
    } catch {
      this.#fail("bad_address");
      return;
    }
    const src = this.getAttribute("src");
    if (this.#filters && src === this.#begun) address.hash = "";
    this.#begun = src;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", SANDBOX);
    frame.referrerPolicy = "no-referrer";
    frame.title = this.getAttribute("name") || "Dashboard"; // until the dashboard sends its title
    if (!this.hasAttribute("role")) this.setAttribute("role", "group"); // an aria-label needs an element with a role
    const height = this.getAttribute("height");
    const holder = document.createElement("div");
    Object.assign(holder.style, { position: "relative", height: height ? `${height}px` : "480px" });
    Object.assign(frame.style, { position: "absolute", inset: 0, width: "100%", height: "100%", border: 0 }); // in the normal flow it would start a new page on paper
    holder.append(frame);
    this.style.display ||= "block";
    this.#frame = frame;
    this.#holder = holder;
    this.#origin = address.origin;
    this.#ask(); // in parallel with the loading of the frame
    this.#timer = setTimeout(() => this.#fail("no_answer"), PATIENCE);
    this.#unanswered = true;
    frame.src = address.href;
    this.#root.replaceChildren(holder);
  }

  #stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#renewal);
    this.#unanswered = false;
    this.#port?.close();
    this.#holder?.remove();
    this.#frame = this.#port = this.#token = null;
  }

  #ask() {
    const asked = async () => {
      const token = await (this.#getToken ?? (await this.#functionGiven)).call(this);
      if (typeof token !== "string" || !token) throw new TypeError("getToken() must return a string");
      return { token };
    };
    const failed = (error) => {
      console.error("tenantry-dashboard: getToken() failed:", error);
      return { code: "no_token" };
    };
    const late = new Promise((resolve) => setTimeout(resolve, TOKEN_PATIENCE, { code: "token_timeout" }));
    const given = (this.#token = Promise.race([asked().catch(failed), late]));
    given.then(({ token }) => given === this.#token && this.#plan(token));
    return given;
  }

  /** Requests the next pass after nine tenths of the lifetime of this one, so that no request is refused. */
  #plan(token) {
    clearTimeout(this.#renewal);
    const wait = 900 * secondsOf(token);
    if (wait > 0 && wait < 2 ** 31) this.#renewal = setTimeout(() => this.#replace(), wait);
  }

  async #replace() {
    const before = this.#token;
    const asked = this.#ask();
    const { token } = await asked;
    if (token) this.#port?.postMessage({ type: "token", data: token });
    else if (asked === this.#token) this.#token = before; // it is still valid, and the host's server may be back before it ends
  }

  /** Handles the "hello" of a document in the frame. This is the first document, the one after a reload, or another dashboard. */
  #onMessage = async ({ source, origin, data }) => {
    const frame = this.#frame;
    if (!frame || source !== frame.contentWindow || origin !== this.#origin) return;
    if (data?.tenantry !== PROTOCOL || data.type !== "hello") return;
    clearTimeout(this.#timer);
    this.#unanswered = false;
    const { token = null, code } = await this.#token;
    if (frame !== this.#frame) return; // the frame was replaced meanwhile
    const { port1, port2 } = new MessageChannel();
    this.#port?.close();
    this.#port = port1;
    port1.onmessage = (event) => this.#receive(port1, event.data);
    const welcome = { tenantry: PROTOCOL, type: "welcome", id: data.id, token, filters: this.filters, given: this.#given, theme: this.#theme, colors: this.#colors };
    source.postMessage(welcome, this.#origin, [port2]); // the browser does not deliver it to a document of another origin
    if (code) this.#fail(code);
  };

  #receive(port, { type, data }) {
    if (port !== this.#port) return;
    if (type === "token-required") this.#renew(port, data);
    else if (type === "height") this.#resize(data);
    else if (type === "paper") this.#print(data);
    else if (type === "colors") this.#colors = data;
    else if (type === "filters" || type === "kept") [this.#filters, this.#given] = [data, false];
    else if (type === "ready" && data) data = this.#follow(data);
    if (EVENTS.includes(type)) this.#emit(type, data);
  }

  /** A click in the frame may open another dashboard. Updates the attributes, which name the dashboard that is shown. */
  #follow({ name, title, path }) {
    this.#frame.title = title;
    const address = new URL(this.getAttribute("src"), document.baseURI);
    this.#following = true;
    if (this.hasAttribute("name")) this.setAttribute("name", name);
    else if (address.pathname !== path) this.setAttribute("src", Object.assign(address, { pathname: path, hash: "" }).href);
    this.#following = false;
    return { name, title };
  }

  /** `refused`: the frame's token. The host may already have given the next one. */
  async #renew(port, refused) {
    const { token: last } = await this.#token;
    const used = refused ?? last;
    const { token, code = token === used ? "same_token" : null } = last && last !== used ? { token: last } : await this.#ask();
    if (port !== this.#port) return;
    port.postMessage(code ? { type: "no-token", data: code } : { type: "token", data: token });
  }

  #resize(height) {
    if (!this.hasAttribute("height")) this.#holder.style.height = `${Math.min(Math.ceil(height), TALLEST)}px`;
  }

  /**
   * Sets the heights of the printed frame, by the width of the paper. They are sent in advance, because the frame cannot send messages
   * while the host prints.
   */
  #print(heights) {
    const sheet = new CSSStyleSheet();
    const rules = (at) => Object.entries(heights).map(([width, height]) => `${at}(min-width:${+width}px){div{height:${+height}px!important}}`).join("");
    const firefox = "@supports(-moz-appearance:none)"; // Firefox has no container queries in print, so use the width of the paper
    sheet.replaceSync(`@media print{:host{container-type:inline-size}${rules("@container")}${firefox}{${rules("@media")}}}`);
    this.#root.adoptedStyleSheets = [sheet];
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #fail(code) {
    this.#emit("error", { code });
  }
}

/**
 * The lifetime of a pass in seconds, NaN for any other string. Uses only times in the pass, because the clock of this machine may be wrong.
 */
function secondsOf(token) {
  try {
    const { iat, exp } = JSON.parse(atob(token.split(".")[2].replace(/-/g, "+").replace(/_/g, "/")));
    return exp - iat;
  } catch {
    return NaN;
  }
}

/** A copy of the argument of `method`, or an empty object for null. Raises TypeError if the argument is not an object. */
function copied(method, given) {
  const wanted = given ?? {};
  if (typeof wanted !== "object" || Array.isArray(wanted)) throw new TypeError(`${method}() takes an object, or null`);
  return structuredClone(wanted);
}

/** The address of the dashboard. Raises TypeError if it is not an HTTP address, or if `name` leads out of `src`. */
function addressOf(src, name) {
  const address = new URL(src, document.baseURI);
  if (!/^https?:$/.test(address.protocol)) throw new TypeError(src);
  if (name) {
    const parts = name.split("/");
    if (parts.some((part) => /^\.{0,2}$/.test(part))) throw new TypeError(name);
    address.pathname = [address.pathname.replace(/\/$/, ""), ...parts.map(encodeURIComponent)].join("/");
  }
  return address;
}

if (globalThis.customElements?.get("tenantry-dashboard") === undefined) globalThis.customElements?.define("tenantry-dashboard", TenantryDashboard);
