/** A session sends the requests of a dashboard's page to its server. The token is stored here and nowhere else in the page. */

const TOKEN_HEADER = "X-User-Group-Token";
/** The origin of the page that embeds this one, or "null" if it is unknown. Not sent if no page embeds this one. */
const HOST_HEADER = "X-Embedding-Origin";
/** Which cookie to use, if the browser has several: the part of its name after the prefix. */
const GROUP_HEADER = "X-User-Group-Handle";

export class Session {
  #token;
  #credentials;
  #group;
  #host;
  #askHost;
  #post;
  #renewing = null;
  #ended = false;
  #answered = false;
  #leaving = new AbortController();
  #listeners = new Map();

  /**
   * @param {object} connection
   * @param {string | null} connection.token  null: the browser sends a cookie
   * @param {RequestCredentials} [connection.credentials]
   * @param {string | null} [connection.group]  the name of the cookie
   * @param {string | null} [connection.host]  the origin that embeds this page
   * @param {(refused: string) => Promise<string>} [connection.askHost]  returns another token; without this function there is nobody to ask
   * @param {(message: object) => void} [connection.post] sends a message to the host
   * @param {object} [connection.filters]  the viewer's choices that the host has kept
   * @param {boolean} [connection.given]  whether the host has set these choices
   * @param {object | null} [connection.theme]  the host's
   * @param {object} [connection.colors]  the colours of names, which the host's page has kept
   */
  constructor({ token, credentials = token === null ? "same-origin" : "omit", group = null, host = null, askHost, post = () => {}, filters = {}, given = false, theme = null, colors }) {
    this.#token = token;
    this.#credentials = credentials;
    this.#group = group;
    this.#host = host;
    this.#askHost = askHost;
    this.#post = post;
    this.filters = filters ?? {};
    this.given = given;
    this.isHosted = Boolean(askHost);
    this.theme = theme;
    this.colors = colors;
    addEventListener("pagehide", () => {
      this.#leaving.abort(); // otherwise an open response would continue
      this.#leaving = new AbortController();
    });
  }

  /**
   * Like `fetch`, with the token, for an address of this page's origin. If the token is refused, it is renewed once.
   * @param {string} path
   * @param {RequestInit} [options]
   * @returns {Promise<Response>}
   */
  async fetch(path, options = {}) {
    const used = this.#token;
    const response = await this.#send(path, options, used);
    if (response.status !== 401) this.#answered = true;
    if (response.status !== 401 || this.#ended) return response;
    const token = await this.#renew(used, response);
    if (token === null) return response;
    const again = await this.#send(path, options, token);
    if (again.status === 401) this.#end("refused", await codeOf(again));
    return again;
  }

  /** Calls `listener` for each "filters", "theme" or "ended". Returns a function that removes the listener. */
  on(event, listener) {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /**
   * Sends an event to the host. "ready": {name, title, path} of the dashboard that is shown. "height": pixels. "paper": heights of the
   * printed page by its width. "filters": the viewer's choices. "kept": the choices that stay because those of the host were refused.
   * "colors": the colours of names, for a frame that is made again. "click": {dashboard, panel, row}. "error": {code, reason, message,
   * panel, control}.
   */
  send(event, data) {
    this.#post({ type: event, data });
  }

  /** Handles a message of the host. */
  receive({ type, data }) {
    if (type === "token") this.#token = data;
    if (type === "filters" || type === "theme") {
      this[type] = data ?? {};
      this.given ||= type === "filters";
      this.#emit(type, this[type]);
    }
  }

  #send(path, options, token) {
    const address = new URL(path, location.origin);
    if (address.origin !== location.origin) throw new TypeError("a session asks its own server only");
    const headers = new Headers(options.headers);
    if (token !== null) headers.set(TOKEN_HEADER, token);
    if (this.#group !== null) headers.set(GROUP_HEADER, this.#group);
    if (this.#host !== null) headers.set(HOST_HEADER, this.#host);
    const signals = [this.#leaving.signal, ...(options.signal ? [options.signal] : [])];
    return fetch(address, {
      ...options,
      headers,
      signal: AbortSignal.any(signals),
      credentials: this.#credentials,
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
  }

  /** Another token than `used`, or null if there is none. If several requests need one, only one of them asks the host. */
  async #renew(used, response) {
    if (this.#token !== used) return this.#token; // another request has already renewed it
    if (!this.#askHost) {
      this.#end(await this.#reason(response));
      return null;
    }
    this.#renewing ??= this.#askHost(used).then(
      (token) => (this.#token = token),
      async (error) => (this.#end(error.message, await codeOf(response)), null),
    );
    const token = await this.#renewing;
    this.#renewing = null;
    return token;
  }

  /** The reason why a request was refused, if nobody can be asked for another token. */
  async #reason(response) {
    if (this.#answered || (await codeOf(response)) !== "missing_token") return "ended";
    return this.#group === null ? "no_session" : "cookies_blocked"; // the address names a group, but the browser sent no cookie
  }

  /** `reason`: the error code of the server. */
  #end(code, reason) {
    if (this.#ended) return;
    this.#ended = true;
    this.#emit("ended", { code });
    this.send("error", { code, ...(reason && { reason }) });
  }

  #emit(event, data) {
    for (const listener of this.#listeners.get(event) ?? []) listener(data);
  }
}

async function codeOf(response) {
  return (await response.clone().json().catch(() => null))?.error?.code;
}
