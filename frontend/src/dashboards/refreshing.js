// Requests panels again when their refresh time has come. Requests several panels together, and only while the page is visible.

const TOGETHER = 250;
const POLL = 30_000;

export class Refreshing {
  #due = new Map();
  #timer;

  /** @param {import("./dashboard.js").Dashboard} dashboard */
  constructor(dashboard) {
    this.dashboard = dashboard;
    this.seen = () => this.#visibility();
    document.addEventListener("visibilitychange", this.seen);
    this.poll = setInterval(() => this.#poll(), POLL);
  }

  /** Call this when a panel has received its rows. */
  came(panel) {
    if (!panel.about.refresh) return;
    this.#due.set(panel.id, performance.now() + panel.about.refresh * 1000);
    this.#plan();
  }

  #plan() {
    clearTimeout(this.#timer);
    if (!this.#due.size || document.hidden) return;
    const next = Math.min(...this.#due.values());
    this.#timer = setTimeout(() => this.#ask(), Math.max(0, next - performance.now()) + TOGETHER);
  }

  #ask() {
    const now = performance.now();
    const ids = [...this.#due].filter(([, due]) => due <= now).map(([id]) => id);
    for (const id of ids) this.#due.delete(id);
    this.dashboard.ask(ids);
    this.#plan();
  }

  /**
   * When the page is hidden, stops running requests. When it is visible again, requests what was stopped, what has changed, and what is
   * due.
   */
  #visibility() {
    if (document.hidden) this.left = this.dashboard.requests.stop(true);
    else if (this.left) {
      this.dashboard.resume(this.left);
      this.left = null;
    }
    this.#plan();
  }

  /** Asks for changes at intervals, if no response stays open to report changed rows or an invalid token. */
  #poll() {
    if (!document.hidden && this.dashboard.about && !this.dashboard.requests.live) this.dashboard.check({ panels: [], choices: [] });
  }

  end() {
    clearTimeout(this.#timer);
    clearInterval(this.poll);
    document.removeEventListener("visibilitychange", this.seen);
  }
}
