// Asking for panels: one request for all that are wanted at a time. What was asked anew is no longer taken from an older
// answer, and an answer from which nothing is wanted any more is cut off, which stops its queries.

import { messages } from "./stream.js";

/** @typedef {{id: string, width?: number, page?: number, sort?: string}} Wanted */
/** @typedef {{controller: AbortController, wanted: Map<string, Wanted>, live: boolean}} Open */

/** The answer was refused, or broke off. */
export class RequestFailed extends Error {
  /**
   * @param {number} status 0 where the connection was lost
   * @param {{code: string, message: string}} [reason] the server's
   */
  constructor(status, reason) {
    super(`the request for panels failed (${status})`);
    this.status = status;
    this.reason = reason;
  }
}

export class PanelRequests {
  /** @type {Set<Open>} */
  #open = new Set();

  /**
   * @param {import("./embed/session.js").Session} session
   * @param {string} path of the panels of one dashboard
   * @param {{message: (message: any) => void, failed: (error: RequestFailed, ids: string[]) => void}} receiver
   */
  constructor(session, path, receiver) {
    this.session = session;
    this.path = path;
    this.receiver = receiver;
  }

  /** @returns {Wanted[]} what has been asked for and has not come */
  get pending() {
    return [...this.#open].flatMap(({ wanted }) => [...wanted.values()]);
  }

  /** Whether an answer stays open to tell of changes. */
  get live() {
    return [...this.#open].some(({ live }) => live);
  }

  /**
   * @param {Wanted[]} wanted
   * @param {{filters: object, definition?: boolean, choices?: string[], live?: boolean}} more
   */
  async ask(wanted, more) {
    for (const { id } of wanted) this.#forget(id);
    const open = { controller: new AbortController(), wanted: new Map(wanted.map((each) => [each.id, each])), live: Boolean(more.live) };
    this.#open.add(open);
    try {
      await this.#read(open, { ...more, panels: wanted });
    } catch (error) {
      if (!open.controller.signal.aborted) this.#failed(open, error);
    } finally {
      this.#open.delete(open);
    }
  }

  async #read(open, body) {
    const { signal } = open.controller;
    const headers = { "Content-Type": "application/json" };
    const response = await this.session.fetch(this.path, { method: "POST", headers, body: JSON.stringify(body), signal });
    if (!response.ok) throw new RequestFailed(response.status, (await response.json().catch(() => null))?.error);
    let ended = false;
    for await (const message of messages(response)) {
      if (signal.aborted) return;
      if (message.token) open.live = false; // nothing follows: another answer stays open in its place
      if (message.end) ended = true;
      else if (message.panel === undefined || open.wanted.delete(message.panel)) this.receiver.message(message);
    }
    if (!ended && !signal.aborted) throw new RequestFailed(0);
  }

  #failed(open, error) {
    const known = error instanceof RequestFailed ? error : new RequestFailed(0);
    this.receiver.failed(known, [...open.wanted.keys()]);
  }

  /** Takes no panel of this id from older answers any more. */
  #forget(id) {
    for (const open of this.#open) {
      if (open.wanted.delete(id) && !open.wanted.size && !open.live) this.#close(open);
    }
  }

  /**
   * Stops what runs. What only stays open for changes goes on, unless `all` is to end.
   * @returns {Wanted[]} what had not come
   */
  stop(all = false) {
    const left = this.pending;
    for (const open of this.#open) if (all || open.wanted.size || !open.live) this.#close(open);
    return left;
  }

  #close(open) {
    this.#open.delete(open);
    open.controller.abort();
  }
}
