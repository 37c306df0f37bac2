// What this browser keeps for an author: drafts, the history of runs, what was open. Never rows.

import { MOUNT } from "./client.js";

const HISTORY = "history";

/** What the name of everything begins with that the editors of this mount keep. */
const EVERYTHING = `tenantry-editor ${MOUNT} `;

/** Whether this browser keeps something for an author, who may have a session. */
export function hasKept() {
  try {
    return Object.keys(localStorage).some((name) => name.startsWith(EVERYTHING));
  } catch {
    return false;
  }
}

export class Keeper {
  #prefix;

  /**
   * @param {string} author
   * @param {(full: boolean) => void} [told] whether the storage is full, after each write
   */
  constructor(author, told = () => {}) {
    this.#prefix = `${EVERYTHING}${encodeURIComponent(author)} `; // no name is the beginning of another
    this.told = told;
  }

  /** @returns {any} undefined if nothing is kept, or if the browser allows no storage */
  get(name) {
    try {
      return JSON.parse(localStorage.getItem(this.#prefix + name) ?? "null") ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a value as JSON. When the storage is full, the history of runs makes room for it. */
  put(name, value) {
    const text = JSON.stringify(value);
    const kept = this.#write(name, text) || (name !== HISTORY && (this.drop(HISTORY), this.#write(name, text)));
    this.told(!kept);
    return kept;
  }

  #write(name, text) {
    try {
      localStorage.setItem(this.#prefix + name, text);
      return true;
    } catch {
      return false;
    }
  }

  drop(name) {
    try {
      localStorage.removeItem(this.#prefix + name);
    } catch {
      // a browser that allows no storage has kept nothing
    }
  }

  /** Drops everything of the author whose name does not begin with `kept`. */
  clear(kept) {
    for (const name of this.names("")) if (!name.startsWith(kept)) this.drop(name);
  }

  /** Calls `run` with the name and the value of what another tab keeps. */
  watch(run) {
    addEventListener("storage", ({ key, newValue }) => key?.startsWith(this.#prefix) && newValue && run(key.slice(this.#prefix.length), JSON.parse(newValue)));
  }

  /** @returns {string[]} the rest of each name that begins with `start` */
  names(start) {
    try {
      const prefix = this.#prefix + start;
      return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    } catch {
      return [];
    }
  }
}
