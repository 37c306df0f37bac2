// An open file: the text as typed, and the text on the server.


export class Document {
  /**
   * @param {string} path
   * @param {{text: string, revision: string} | null} file the file on the server; null if there is none
   * @param {{text: string, revision: string | null} | undefined} draft the text that this browser has kept
   * @param {string} kind "query", "dashboard", "tables" or "other"
   */
  constructor(path, file, draft, kind) {
    this.path = path;
    this.kind = kind;
    this.saved = file?.text ?? null;
    this.text = draft?.text ?? file?.text ?? "";
    /** The revision on which the typed text is based. Saving causes a conflict if the server now has another revision. */
    this.revision = draft ? draft.revision : (file?.revision ?? null);
    /** Whether the server accepts no file with this path. If so, requests about other files do not include its text. */
    this.refused = false;
    /** @type {Record<string, any>} the values of the parameters, which a viewer would choose */
    this.params = {};
    /** @type {string | null} the dashboard whose controls set the parameters; null: the first dashboard that uses the query */
    this.dashboard = null;
    /** @type {string[]} the dashboards that use the query, as far as the server has reported them */
    this.usedBy = [];
  }

  get language() {
    return this.path.endsWith(".sql") ? "sql" : "yaml";
  }

  get isDashboard() {
    return this.kind === "dashboard";
  }

  get changed() {
    return this.text !== this.saved;
  }

  /** The names of the queries and fragments that this file may use, as files write them. */
  get uses() {
    if (this.language === "sql") return [...this.text.matchAll(/\{\{>\s*([\w/.-]+)/g)].map(([, name]) => name);
    return this.text.split(/[^\p{L}\p{N}_/.-]+/u); // all words: one that is no name can at most cause an unnecessary question to the author
  }

  get name() {
    return nameOf(this.path);
  }
}

/**
 * @param {string} before
 * @param {string} after
 * @returns {{from: number, to: number, insert: string}} the shortest edit of `before` that gives `after`
 */
export function editBetween(before, after) {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from++;
  let alike = 0; // equal characters at the end
  while (alike < shorter - from && before.at(-1 - alike) === after.at(-1 - alike)) alike++;
  return { from, to: before.length - alike, insert: after.slice(from, after.length - alike) };
}

export function nameOf(path) {
  return path.split("/").at(-1);
}

/** The kind of a file that the server does not have yet. */
export function kindOf(path) {
  if (path.endsWith(".sql")) return "query";
  return nameOf(path) === "tables.yaml" ? "tables" : "dashboard";
}
