// Requests panels and the choices of controls, all that are needed at a time in one request. If a panel is requested again, older responses
// for it are ignored. A response from which nothing is needed any more is aborted, which stops its queries.

import { isFilled } from "./filters.js";
import { WITHOUT_ROWS } from "./panels.js";
import { messages } from "./stream.js";

/** @typedef {{id: string, width?: number, page?: number, sort?: string}} Wanted */
/** @typedef {{panels: string[], choices: string[]}} Left panels by their ids, and controls */
/** @typedef {{controller: AbortController, panels: Map<string, Wanted>, choices: Set<string>, live: boolean}} Open */

/** Milliseconds after which the browser gets time to show the messages that were drawn. */
const TURN = 30;

/** The request was refused, or its response was interrupted. */
class RequestFailed extends Error {
  /**
   * @param {number} status 0 if the connection was lost
   * @param {{code: string, message: string}} [reason] the error of the server
   */
  constructor(status, reason) {
    super(`the request for panels failed (${status})`);
    this.status = status;
    this.reason = reason;
  }

  /** Whether no response came, so that a later attempt may succeed. */
  get isLost() {
    return !this.status || this.status >= 500;
  }
}

export class PanelRequests {
  /** @type {Set<Open>} */
  #open = new Set();

  /**
   * @param {import("./embed/session.js").Session} session
   * @param {string} path the path of a dashboard's panels
   * @param {{message: (message: any) => void, came: () => void, failed: (error: RequestFailed, left: Left) => void}} receiver `came`:
   *   called when a response is complete
   */
  constructor(session, path, receiver) {
    this.session = session;
    this.path = path;
    this.receiver = receiver;
  }

  /** @returns {Left} the panels and choices that were requested and have not arrived */
  get pending() {
    const open = [...this.#open];
    return { panels: open.flatMap(({ panels }) => [...panels.keys()]), choices: open.flatMap(({ choices }) => [...choices]) };
  }

  /** Whether a response stays open to report changes. */
  get live() {
    return [...this.#open].some(({ live }) => live);
  }

  /**
   * @param {Wanted[] | null} wanted null: all panels of the dashboard, after its definition
   * @param {{filters: object, definition?: boolean, width?: number, choices?: string[], live?: boolean}} more
   */
  async ask(wanted, more) {
    const panels = new Map(wanted?.map((each) => [each.id, each]));
    const choices = new Set(more.choices);
    for (const open of this.#open) this.#forget(open, panels.keys(), choices);
    const open = { wanted, controller: new AbortController(), panels, choices, live: Boolean(more.live) };
    this.#open.add(open);
    try {
      await this.#read(open, { ...more, panels: wanted });
    } catch (error) {
      if (!open.controller.signal.aborted && !open.ended) this.#failed(open, error);
    } finally {
      this.#open.delete(open);
    }
  }

  async #read(open, body) {
    const { signal } = open.controller;
    const headers = { "Content-Type": "application/json" };
    const response = await this.session.fetch(this.path, { method: "POST", headers, body: JSON.stringify(body), signal });
    if (!response.ok) throw new RequestFailed(response.status, (await response.json().catch(() => null))?.error);
    let began = performance.now();
    for await (const message of messages(response)) {
      if (performance.now() - began > TURN) {
        await new Promise((resolve) => setTimeout(resolve)); // lets the browser show what was drawn before the rest is drawn
        began = performance.now();
      }
      if (signal.aborted) return;
      if (message.token) open.live = false; // nothing follows, and another response will stay open instead
      if (message.end) this.#came(open);
      else if (isTaken(open, message)) this.receiver.message(message);
    }
    if (!open.ended && !signal.aborted) throw new RequestFailed(0);
  }

  /**
   * All requested messages have arrived. If the response is interrupted later, this is no failure: the page then asks for changes at
   * intervals.
   */
  #came(open) {
    open.ended = true;
    this.receiver.came();
  }

  #failed(open, error) {
    const known = error instanceof RequestFailed ? error : new RequestFailed(0);
    this.receiver.failed(known, { panels: [...open.panels.keys()], choices: [...open.choices] });
  }

  /** Ignores these panels and choices in an older response. Aborts the response if nothing else is needed from it. */
  #forget(open, panels, choices) {
    const found = [...panels].filter((id) => open.panels.delete(id)).length + [...choices].filter((name) => open.choices.delete(name)).length;
    if (found && !isAwaited(open) && !open.live) this.#close(open);
  }

  /**
   * Aborts requests. A response that only stays open for changes continues, unless `all` is true.
   * @returns {Left} the panels and choices that have not arrived
   */
  stop(all = false) {
    const left = this.pending;
    for (const open of this.#open) if (all || isAwaited(open) || !open.live) this.#close(open);
    return left;
  }

  #close(open) {
    this.#open.delete(open);
    open.controller.abort();
  }
}

/** Whether a requested panel or choice has not arrived. */
function isAwaited({ panels, choices }) {
  return panels.size + choices.size > 0;
}

/** Whether to use a message. A panel that was requested again arrives in another response. */
function isTaken(open, message) {
  if (message.dashboard) { // the panels and choices that follow the definition
    for (const { name } of message.dashboard.controls.filter(isFilled)) open.choices.add(name);
    if (!open.wanted) for (const { id, kind } of message.dashboard.rows.flat()) if (!WITHOUT_ROWS.has(kind)) open.panels.set(id);
  }
  if (message.panel !== undefined) return open.panels.delete(message.panel);
  return message.choices === undefined || open.choices.delete(message.choices);
}
