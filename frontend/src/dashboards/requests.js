// Asking for panels and for the choices of controls: one request for all that are wanted at a time. What was asked anew
// is no longer taken from an older answer, and an answer from which nothing is wanted any more is cut off, which stops
// its queries.

import { isFilled } from "./filters.js";
import { WITHOUT_ROWS } from "./panels.js";
import { messages } from "./stream.js";

/** @typedef {{id: string, width?: number, page?: number, sort?: string}} Wanted */
/** @typedef {{panels: string[], choices: string[]}} Left panels by their ids, and controls */
/** @typedef {{controller: AbortController, panels: Map<string, Wanted>, choices: Set<string>, live: boolean}} Open */

/** Milliseconds for which messages are drawn before the browser shows them. */
const TURN = 30;

/** The answer was refused, or broke off. */
class RequestFailed extends Error {
  /**
   * @param {number} status 0 where the connection was lost
   * @param {{code: string, message: string}} [reason] the server's
   */
  constructor(status, reason) {
    super(`the request for panels failed (${status})`);
    this.status = status;
    this.reason = reason;
  }

  /** Whether no answer came, so that the same request may be answered later. */
  get isLost() {
    return !this.status || this.status >= 500;
  }
}

export class PanelRequests {
  /** @type {Set<Open>} */
  #open = new Set();

  /**
   * @param {import("./embed/session.js").Session} session
   * @param {string} path of the panels of one dashboard
   * @param {{message: (message: any) => void, came: () => void, failed: (error: RequestFailed, left: Left) => void}} receiver
   *   `came`: an answer came as a whole
   */
  constructor(session, path, receiver) {
    this.session = session;
    this.path = path;
    this.receiver = receiver;
  }

  /** @returns {Left} what has been asked for and has not come */
  get pending() {
    const open = [...this.#open];
    return { panels: open.flatMap(({ panels }) => [...panels.keys()]), choices: open.flatMap(({ choices }) => [...choices]) };
  }

  /** Whether an answer stays open to tell of changes. */
  get live() {
    return [...this.#open].some(({ live }) => live);
  }

  /**
   * @param {Wanted[] | null} wanted null: all of the dashboard, whose definition comes first
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
        await new Promise((resolve) => setTimeout(resolve)); // what is drawn is shown before the rest is drawn
        began = performance.now();
      }
      if (signal.aborted) return;
      if (message.token) open.live = false; // nothing follows: another answer stays open in its place
      if (message.end) this.#came(open);
      else if (isTaken(open, message)) this.receiver.message(message);
    }
    if (!open.ended && !signal.aborted) throw new RequestFailed(0);
  }

  /** What follows only tells of changes: where it breaks off, the page asks from time to time. */
  #came(open) {
    open.ended = true;
    this.receiver.came();
  }

  #failed(open, error) {
    const known = error instanceof RequestFailed ? error : new RequestFailed(0);
    this.receiver.failed(known, { panels: [...open.panels.keys()], choices: [...open.choices] });
  }

  /** Takes these no more from an older answer. */
  #forget(open, panels, choices) {
    const found = [...panels].filter((id) => open.panels.delete(id)).length + [...choices].filter((name) => open.choices.delete(name)).length;
    if (found && !isAwaited(open) && !open.live) this.#close(open);
  }

  /**
   * Stops what runs. What only stays open for changes goes on, unless `all` is to end.
   * @returns {Left} what had not come
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

/** Whether something that it was asked for has not come. */
function isAwaited({ panels, choices }) {
  return panels.size + choices.size > 0;
}

/** Whether a message is for anybody: what was asked anew meanwhile comes by another answer. */
function isTaken(open, message) {
  if (message.dashboard) { // what comes with it
    for (const { name } of message.dashboard.controls.filter(isFilled)) open.choices.add(name);
    if (!open.wanted) for (const { id, kind } of message.dashboard.rows.flat()) if (!WITHOUT_ROWS.has(kind)) open.panels.set(id);
  }
  if (message.panel !== undefined) return open.panels.delete(message.panel);
  return message.choices === undefined || open.choices.delete(message.choices);
}
