// What the page does while its server does not answer: one banner, and another try when the browser is online again, and
// after 1, 2, 4 … 30 seconds.

import { html } from "./dom.js";

const FIRST = 1_000;
const LONGEST = 30_000;
const LOST = "The server is not responding. Missing data will load when it is back.";

export class Connection {
  #tries = 0;
  #timer = null;

  /** @param {{again: () => void, lost: (text: string) => void}} page `again`: asks for what had not come; `lost`: once for each loss */
  constructor({ again, lost }) {
    this.lost = lost;
    this.again = () => {
      this.#plan(); // in case that nothing comes of it
      again();
    };
    const button = html("button", { type: "button", class: "link", click: this.again }, "Try now");
    this.banner = html("div", { class: "banner" });
    this.words = [html("p", {}, LOST, " ", button)];
    addEventListener("online", () => this.#timer && this.again());
    addEventListener("offline", () => this.broke());
  }

  /** A request failed. */
  broke() {
    if (this.#timer) return;
    this.banner.replaceChildren(...this.words);
    this.#plan();
    this.lost(LOST);
  }

  /** An answer came as a whole, or none is wanted any more. */
  came() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#tries = 0;
    this.banner.replaceChildren();
  }

  /** Each page at another moment, so that a server that is back is not asked by all at once. */
  #plan() {
    clearTimeout(this.#timer);
    const wait = Math.min(FIRST * 2 ** this.#tries, LONGEST);
    this.#tries += 1;
    this.#timer = setTimeout(() => (document.hidden ? this.#plan() : this.again()), wait * (0.5 + Math.random() / 2));
  }
}
