// A run of a query, with its messages as they arrive.

import { lines } from "./client.js";

/** The rows and facts of a run. `error`: the error of the server. `stopped`: whether the author has stopped the run. */
export class Run {
  started = null;
  columns = [];
  rows = [];
  done = null;
  error = null;
  stopped = false;
  #controller = new AbortController();

  /** @param {object} body the body of the request */
  constructor(body) {
    this.body = body;
  }

  get ended() {
    return Boolean(this.done || this.error || this.stopped);
  }

  /** @param {() => void} changed called for each message, and at the end */
  async start(changed) {
    try {
      for await (const message of lines("run", this.body, { signal: this.#controller.signal })) {
        if (message.started) this.started = message.started;
        if (message.columns) this.columns = distinct(message.columns);
        if (message.rows) for (const row of message.rows) this.rows.push(row);
        if (message.done) this.done = message.done;
        if (message.error) this.error = message.error;
        changed();
      }
      if (!this.ended) this.error = { code: "broken_off", message: "The answer broke off. Run the query again." };
    } catch (error) {
      if (!this.stopped) this.error = error;
    }
    changed();
    return this;
  }

  stop() {
    if (this.ended) return;
    this.stopped = true;
    this.#controller.abort();
  }
}

/** The columns with unique names: a number is added to a name that occurs again, because rows are read by names. */
function distinct(columns) {
  const counts = new Map();
  return columns.map((column) => {
    const count = (counts.get(column.name) ?? 0) + 1;
    counts.set(column.name, count);
    return count > 1 ? { ...column, name: `${column.name} (${count})` } : column;
  });
}
