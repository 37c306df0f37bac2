// What this browser keeps for an author: drafts, the history of runs, and which files were open. It never keeps rows.

import { MOUNT } from "./client.js";

const HISTORY = "history";

/** The names of everything that the editors of this mount keep begin with this string. */
const EVERYTHING = `tenantry-editor ${MOUNT} `;

/** Whether this browser keeps anything for an author, who may then have a session. */
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
   * @param {(full: boolean) => void} [told] called after each write; `full`: whether the storage is full
   */
  constructor(author, told = () => {}) {
    this.#prefix = `${EVERYTHING}${encodeURIComponent(author)} `; // the space avoids that an author's prefix is the beginning of another's
    this.told = told;
  }

  /** @returns {any} the kept value; undefined if there is none, or if the browser allows no storage */
  get(name) {
    try {
      return JSON.parse(localStorage.getItem(this.#prefix + name) ?? "null") ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a value as JSON. If the storage is full, the history of runs is deleted. */
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
      // a browser without storage has kept nothing
    }
  }

  /** Deletes everything of the author, except names that begin with `kept`. */
  clear(kept) {
    for (const name of this.names("")) if (!name.startsWith(kept)) this.drop(name);
  }

  /** Calls `run` with the name and value when another tab keeps something. */
  watch(run) {
    addEventListener("storage", ({ key, newValue }) => key?.startsWith(this.#prefix) && newValue && run(key.slice(this.#prefix.length), JSON.parse(newValue)));
  }

  /** @returns {string[]} the names that begin with `start`, without this beginning */
  names(start) {
    try {
      const prefix = this.#prefix + start;
      return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    } catch {
      return [];
    }
  }
}
