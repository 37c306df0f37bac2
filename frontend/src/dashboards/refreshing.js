// Panels whose time has come are asked again, together, while the page is seen.

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

  /** A panel has its rows. */
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

  /** Hidden: what runs is stopped. Seen again: what was stopped is asked, what has changed, and what is due. */
  #visibility() {
    if (document.hidden) this.left = this.dashboard.requests.stop(true);
    else if (this.left) {
      this.dashboard.resume(this.left);
      this.left = null;
    }
    this.#plan();
  }

  /** Where no answer stays open that would say that rows have changed, or that the group's token has died. */
  #poll() {
    if (!document.hidden && this.dashboard.about && !this.dashboard.requests.live) this.dashboard.check({ panels: [], choices: [] });
  }

  end() {
    clearTimeout(this.#timer);
    clearInterval(this.poll);
    document.removeEventListener("visibilitychange", this.seen);
  }
}
