// Handles an unreachable server: shows one banner, and tries again when the browser comes online, and after 1, 2, 4 and so on up to 30
// seconds.

import { html } from "./dom.js";

const FIRST = 1_000;
const LONGEST = 30_000;
const LOST = "The server is not responding. Missing data will load when it is back.";

export class Connection {
  #tries = 0;
  #timer = null;

  /**
   * `again` requests the responses that are missing. `lost` is called once for each loss of the connection.
   * @param {{again: () => void, lost: (text: string) => void}} page `again`: asks for what had not come; `lost`: once for each loss
   */
  constructor({ again, lost }) {
    this.lost = lost;
    this.again = () => {
      this.#plan(); // in case this attempt fails
      again();
    };
    const button = html("button", { type: "button", class: "link", click: this.again }, "Try now");
    this.banner = html("div", { class: "banner" });
    this.words = [html("p", {}, LOST, " ", button)];
    addEventListener("online", () => this.#timer && this.again());
    addEventListener("offline", () => this.broke());
  }

  /** Call this when a request has failed. */
  broke() {
    if (this.#timer) return;
    this.banner.replaceChildren(...this.words);
    this.#plan();
    this.lost(LOST);
  }

  /** Call this when a response is complete, or when none is needed any more. */
  came() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#tries = 0;
    this.banner.replaceChildren();
  }

  /** Plans the next attempt. The time varies at random, so that all pages together do not overload a server that has just started. */
  #plan() {
    clearTimeout(this.#timer);
    const wait = Math.min(FIRST * 2 ** this.#tries, LONGEST);
    this.#tries += 1;
    this.#timer = setTimeout(() => (document.hidden ? this.#plan() : this.again()), wait * (0.5 + Math.random() / 2));
  }
}
