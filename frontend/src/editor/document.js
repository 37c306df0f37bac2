// A file that is open: its text as typed, and what the server has of it.


export class Document {
  /**
   * @param {string} path
   * @param {{text: string, revision: string} | null} file the server's; null if it has none
   * @param {{text: string, revision: string | null} | undefined} draft what this browser has kept
   * @param {string} kind "query", "dashboard", "tables" or "other"
   */
  constructor(path, file, draft, kind) {
    this.path = path;
    this.kind = kind;
    this.saved = file?.text ?? null;
    this.text = draft?.text ?? file?.text ?? "";
    /** The revision that the typed text began with: a save is a conflict if the server has another one by now. */
    this.revision = draft ? draft.revision : (file?.revision ?? null);
    /** Whether the server accepts no file with this path. Then its text goes with no request about other files. */
    this.refused = false;
    /** @type {Record<string, any>} what a viewer would choose */
    this.params = {};
    /** @type {string | null} the dashboard whose controls are the parameters; null: the first that uses the query */
    this.dashboard = null;
    /** @type {string[]} the dashboards that use the query, as far as the server has said so */
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

  /** The names by which files use the queries and fragments that this file needs. */
  get uses() {
    if (this.language === "sql") return [...this.text.matchAll(/\{\{>\s*([\w/.-]+)/g)].map(([, name]) => name);
    return this.text.split(/[^\p{L}\p{N}_/.-]+/u); // each word: the worst that a word can do is a question
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
  let alike = 0; // at the end
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
