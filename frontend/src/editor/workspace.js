// The open files, the current choices, and what the author may do.

import { ask } from "./client.js";
import { Document, kindOf } from "./document.js";
import { Emitter } from "./emitter.js";

const DRAFT = "draft ";
const PAUSE = 300;
/** The maximum that the server accepts with a request. */
const MOST_DRAFTS = 20;

/** Whether the page is too narrow for writing. */
const NARROW = matchMedia("(max-width: 600px)");

/** Emits "files", "open", "text", "saved", "choice", "schemas" and "elsewhere". */
export class Workspace extends Emitter {
  /** @type {{path: string, kind: string, status: string | null}[]} */
  files = [];
  git = false;
  /** @type {Map<string, Document>} by path, in the order of the tabs */
  documents = new Map();
  /** @type {Document | null} */
  active = null;
  /** The schemas of the chosen group's mapping. */
  schemas = ["main"];
  #unwritten = new Set();
  #timer;

  /**
   * @param {{author: string, rights: string[], environments: string[], read_only: boolean}} state
   * @param {import("./keeper.js").Keeper} keeper
   * @param {{environment?: string, group?: string}} first the group to begin with
   */
  constructor(state, keeper, first = {}) {
    super();
    this.state = state;
    this.keeper = keeper;
    const { environment: named, group } = first;
    const kept = group ? { environment: named, group: { id: group, name: group } } : (keeper.get("choice") ?? {});
    const environment = state.environments.includes(kept.environment) ? kept.environment : state.environments[0];
    this.choice = { group: null, viewer: null, schema: "main", ...(environment === kept.environment && kept), environment };
    keeper.watch((name, value) => this.#seenElsewhere(name, value));
    NARROW.addEventListener("change", () => this.emit("open"));
    addEventListener("pagehide", () => this.#keep());
    document.addEventListener("visibilitychange", () => this.#keep());
  }

  may(right) {
    return this.state.rights.includes(right) && !(right === "save" && (this.state.read_only || !this.mayType));
  }

  /** Whether the page is wide enough for writing and the author may run or save. */
  get mayType() {
    return !NARROW.matches && ["run", "save"].some((right) => this.state.rights.includes(right));
  }

  /** The reason, in words, why there is no button to run or to save. Empty if both are there. */
  get denied() {
    const lacking = ["run", "save"].filter((right) => !this.state.rights.includes(right));
    const words = [this.state.read_only && "Read-only: nobody saves files in this editor", lacking.length && `You have no right to ${lacking.join(" or ")}`];
    return words.filter(Boolean).join(". ");
  }

  /** @param {object} changes of `choice` */
  choose(changes) {
    Object.assign(this.choice, changes);
    const { viewer, ...kept } = this.choice; // the attributes of a viewer are values, so they are not kept after the page is closed
    this.keeper.put("choice", kept);
    this.emit("choice");
  }

  // --- files ----------------------------------------------------------------------------------------------------------

  async load() {
    const { files, git } = await ask("files", {});
    const known = new Set(files.map(({ path }) => path));
    const drafts = this.keeper.names(DRAFT).filter((path) => !known.has(path));
    this.files = [...files, ...drafts.map(notSaved)];
    this.git = git;
    this.emit("files");
  }

  /** Whether the file has unsaved text, in a tab or kept from an earlier visit. */
  isDraft(path) {
    return this.documents.get(path)?.changed ?? this.keeper.get(DRAFT + path) !== undefined;
  }

  /** The paths of the open files with unsaved text, joined to a string for comparisons. */
  changedPaths() {
    return [...this.documents.values()].filter((each) => each.changed).map(({ path }) => path).join("\n");
  }

  /** Shows a file. Throws Refused if it cannot be read. */
  async open(path) {
    const document = await this.read(path);
    if (!this.documents.has(path)) this.documents.set(path, document);
    this.show(path);
  }

  /**
   * @returns {Promise<Document>} a file with its draft, even if it is not open. Throws Refused
   */
  async read(path) {
    if (this.documents.has(path)) return this.documents.get(path);
    const draft = this.keeper.get(DRAFT + path);
    let refused = false;
    const file = await ask("file", { path }).catch((error) => {
      refused = error.status === 422;
      if (draft && (refused || error.status === 404)) return null;
      throw error;
    });
    const found = new Document(path, file, draft, this.files.find((each) => each.path === path)?.kind ?? kindOf(path));
    return Object.assign(found, { refused });
  }

  /** Throws an error with the reason if no new file can have this path. */
  async requireFree(path) {
    if (this.files.some((each) => each.path === path)) throw new Error(`There is a file ${path} already.`);
    await ask("file/new", { path });
  }

  /** Opens a new file that is not on the server yet. */
  create(path, text = "") {
    const document = new Document(path, null, { text, revision: null }, kindOf(path));
    this.documents.set(path, document);
    this.#unwritten.add(path);
    this.#keep();
    if (!this.files.some((each) => each.path === path)) this.files = [...this.files, notSaved(path)];
    this.show(path);
  }

  show(path) {
    this.active = this.documents.get(path) ?? null;
    this.keeper.put("open", { paths: [...this.documents.keys()], active: this.active?.path });
    this.emit("open");
  }

  /** Closes the tab. Unsaved text stays in this browser. */
  close(path) {
    this.#keep();
    const paths = [...this.documents.keys()];
    const at = paths.indexOf(path);
    this.documents.delete(path);
    this.show(this.active?.path === path ? (paths[at + 1] ?? paths[at - 1]) : this.active?.path);
  }

  /** Opens the files that were open at the last visit. A file that no longer exists stays closed. */
  async restore() {
    const { paths = [], active } = this.keeper.get("open") ?? {};
    const unlessGone = (error) => (error.status ? null : Promise.reject(error)); // without an answer, all stay for the next visit
    const readAll = async (wanted) => {
      const found = await Promise.all(wanted.map((path) => this.read(path).catch(unlessGone)));
      const kept = found.filter(Boolean).map((document) => [document.path, document]);
      this.documents = new Map([...kept, ...this.documents]); // the author may have opened files meanwhile
    };
    await readAll(paths);
    const first = this.files.find(({ kind }) => kind === "query") ?? this.files[0];
    if (!this.documents.size && first) await readAll([first.path]);
    const last = this.documents.has(active) ? active : [...this.documents.keys()].at(-1);
    if (last) this.show(this.active?.path ?? last);
  }

  // --- texts ----------------------------------------------------------------------------------------------------------

  /** Call this when the author has typed. The text is kept in this browser after a moment. */
  typed(text, document = this.active) {
    document.text = text;
    this.#unwritten.add(document.path);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), PAUSE);
    this.emit("text", document);
  }

  /** Reports that another tab has kept another text of a file that is also changed here. */
  #seenElsewhere(name, { text }) {
    const document = name.startsWith(DRAFT) ? this.documents.get(name.slice(DRAFT.length)) : null;
    if (document?.changed && document.text !== text) this.emit("elsewhere", document);
  }

  /**
   * @param {Document} document
   * @returns {Document[]} the open files with unsaved text that the document needs; each file comes after the files that it needs
   */
  unsavedBehind(document, met = new Set([document])) {
    const names = new Set(document.uses);
    const needed = [...this.documents.values()].filter((each) => each.language === "sql" && each.changed && !each.refused && (names.has(each.path) || names.has(each.path.replace(/^queries\/|\.sql$/g, ""))));
    return needed.flatMap((each) => {
      if (met.has(each)) return [];
      met.add(each);
      return [...this.unsavedBehind(each, met), each];
    });
  }

  #keep() {
    clearTimeout(this.#timer);
    for (const path of this.#unwritten) {
      const document = this.documents.get(path);
      if (document?.changed) this.keeper.put(DRAFT + path, { text: document.text, revision: document.revision });
      else if (document) this.keeper.drop(DRAFT + path);
    }
    this.#unwritten.clear();
  }

  /**
   * Saves a document.
   * @param {Document} document
   * @param {string | null} [revision] the revision that it replaces
   * @returns {Promise<{text: string | null, revision: string | null} | null>} the file of others, if they have changed it meanwhile;
   *   otherwise null. Throws Refused.
   */
  async save(document, revision = document.revision) {
    const { path, text } = document;
    try {
      const saved = await ask("file/save", { path, text, revision });
      document.saved = text;
      document.revision = saved.revision;
    } catch (error) {
      if (error.code !== "file_conflict") throw error;
      return error.answer.theirs;
    }
    this.#unwritten.add(path); // text that was typed during the save stays a draft
    this.#keep();
    this.emit("saved", document);
    await this.load();
    return null;
  }

  /** Throws Refused. */
  async rename(document, to) {
    const { path } = document;
    if (document.saved === null) await this.requireFree(to);
    else document.revision = (await ask("file/rename", { path, to, revision: document.revision })).revision ?? document.revision;
    this.documents = new Map([...this.documents].map(([key, each]) => (key === path ? [to, each] : [key, each])));
    Object.assign(document, { path: to, kind: kindOf(to), refused: false });
    this.keeper.drop(DRAFT + path);
    this.#unwritten.add(to);
    this.#keep();
    this.show(to);
    await this.load();
  }

  /** Throws Refused. */
  async remove(document) {
    if (document.saved !== null) await ask("file/delete", { path: document.path, revision: document.revision });
    document.text = document.saved; // so that no draft remains
    this.#unwritten.add(document.path);
    this.close(document.path);
    this.keeper.drop(DRAFT + document.path);
    await this.load();
  }

  /** Ends the session. Only drafts of the author stay in this browser. Throws Refused. */
  async leave() {
    try {
      await ask("session/end", {});
    } finally {
      this.keeper.clear(DRAFT);
    }
  }

  // --- requests -------------------------------------------------------------------------------------------------------

  /** The unsaved texts of other files, by path. */
  draftsBeside(path) {
    const changed = [...this.documents.values()].filter((each) => each.changed && !each.refused && each.path !== path);
    return Object.fromEntries(changed.slice(-MOST_DRAFTS).map((each) => [each.path, each.text]));
  }

  /**
   * The fields of a request about a document as the chosen group.
   * @param {Document} document
   * @param {...string} names the names of the fields
   */
  body(document, ...names) {
    const { path, text, params, dashboard } = document;
    const { environment, group, viewer, schema } = this.choice;
    const all = { path, text, drafts: this.draftsBeside(path), environment, group: group?.id, viewer, schema, params, dashboard, unguarded: Boolean(this.unguarded) };
    return Object.fromEntries(names.map((name) => [name, all[name]]));
  }
}

function notSaved(path) {
  return { path, kind: kindOf(path), status: null };
}

/** The fields of a request that runs a query. */
export const RUN = ["path", "text", "drafts", "environment", "group", "viewer", "schema", "params", "dashboard", "unguarded"];
