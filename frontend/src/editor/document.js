// A file that is open: its text as typed, and what the server has of it.

const KINDS = { sql: "sql", yaml: "yaml", yml: "yaml" };

export class Document {
  /**
   * @param {string} path
   * @param {{text: string, revision: string} | null} file the server's; null if it has none
   * @param {{text: string, revision: string | null} | undefined} draft what this browser has kept
   */
  constructor(path, file, draft) {
    this.path = path;
    this.saved = file?.text ?? null;
    this.text = draft?.text ?? file?.text ?? "";
    /** The revision that the typed text began with: a save is a conflict if the server has another one by now. */
    this.revision = draft ? draft.revision : (file?.revision ?? null);
    /** @type {Record<string, any>} what a viewer would choose */
    this.params = {};
  }

  get language() {
    return KINDS[this.path.split(".").at(-1)] ?? "sql";
  }

  get isDashboard() {
    return isDashboard(this.path);
  }

  get changed() {
    return this.text !== this.saved;
  }

  get name() {
    return nameOf(this.path);
  }
}

export function nameOf(path) {
  return path.split("/").at(-1);
}

export function isDashboard(path) {
  return /\.ya?ml$/.test(path) && nameOf(path) !== "tables.yaml";
}
