// The page of the editor: files on the left, the text, and below it the results of the query.

import { html } from "../dashboards/dom.js";
import { load } from "../dashboards/chunks.js";
import { ask } from "./client.js";
import { commandBar, firstStep } from "./commands.js";
import { showConflict } from "./conflict.js";
import { editBetween } from "./document.js";
import { askPath, showCopy, showDialog } from "./dialogs.js";
import { head } from "./header.js";
import { followLanguage } from "./language.js";
import { parameterFields } from "./parameters.js";
import { preview } from "./preview.js";
import { problemList } from "./problems.js";
import { Run } from "./run.js";
import { splitLine } from "./split.js";
import { openFiles } from "./tabs.js";
import { fileTree } from "./tree.js";
import { RUN } from "./workspace.js";

const FULL = "This browser's storage is full: what you type is not kept when you leave the page. Save your files.";

export class Shell {
  #run = null;
  #diff = null;
  #results = null;

  /**
   * @param {import("./workspace.js").Workspace} workspace
   * @param {any} view the element `tenantry-code`
   */
  constructor(workspace, view) {
    this.workspace = workspace;
    this.view = view;
    const failed = (error) => this.#alert(error.message);
    this.banner = html("p", { class: "banner", role: "alert", hidden: true });
    this.problems = problemList({ go: (offset) => view.focusAt(offset), fix: (edit) => this.#edit(edit), mayType: () => workspace.mayType });
    this.parameters = parameterFields((changes) => {
      Object.assign(workspace.active, changes);
      workspace.emit("params");
    }, (query) => this.#rowsOf(query));
    this.commands = commandBar(workspace, { run: () => this.run(), stop: () => this.#run?.stop(), save: () => this.save(), format: () => this.format(), changes: () => this.changes() }, () => this.#entries());
    this.diffHost = html("div", { class: "diff-host", hidden: true });
    const text = html("div", { class: "text" }, view, this.diffHost);
    this.below = html("section", { class: "below", "aria-label": "Result" }, html("p", { class: "hint" }, firstStep(workspace)));
    const body = html("div", { class: "body" });
    body.append(text, this.problems.element, this.parameters.element, splitLine(body, workspace.keeper), this.below, preview(workspace));
    this.empty = html("p", { class: "hint" }, "Open a file on the left.");
    this.body = body;
    this.work = html("main", { class: "work" }, openFiles(workspace), this.commands.element, this.banner, body, this.empty);
    this.element = html("div", { class: "shell" }, head(workspace, failed), fileTree(workspace, failed, () => view.focus()), this.work);
    this.#listen();
    this.language = followLanguage(workspace, view, {
      findings: (findings) => this.problems.show(findings, view.text),
      failed: (error) => this.problems.fail(error),
      params: (params, dashboards) => this.parameters.show(params, workspace.active.params, dashboards, workspace.active.dashboard),
      dialect: (dialect) => {
        if (dialect === this.dialect) return;
        this.dialect = dialect;
        this.#showText();
      },
      meaning: (meaning) => {
        this.meaning = meaning;
        this.#results?.mean(meaning);
      },
    });
  }

  #listen() {
    const { workspace, view } = this;
    workspace.keeper.told = (full) => (full ? this.#alert(FULL) : this.banner.textContent === FULL && this.#alert(""));
    workspace.on("elsewhere", ({ name }) => this.#alert(`You are writing ${name} in another tab, too. Only what you typed last is kept when you close a tab: save one of them.`));
    workspace.on("open", () => this.#open());
    workspace.on("choice", () => this.#results?.chosen());
    view.addEventListener("change", () => workspace.active && view.text !== workspace.active.text && workspace.typed(view.text));
    view.addEventListener("run", () => this.run());
    view.addEventListener("save", () => this.save());
    view.addEventListener("format", () => this.format());
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || !(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
      const action = { Enter: () => this.run(), s: () => this.save() }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    (globalThis.requestIdleCallback ?? setTimeout)(() => this.#loadResults().catch(() => {}), { timeout: 2000 });
  }

  #open() {
    const { active } = this.workspace;
    this.#endDiff();
    this.body.hidden = !active;
    this.empty.hidden = Boolean(active);
    document.title = active ? `${active.name} – SQL editor` : "SQL editor";
    if (!active) return;
    this.body.classList.toggle("has-preview", active.isDashboard);
    this.body.classList.toggle("has-result", active.language === "sql");
    this.#showText();
    this.problems.show([], active.text);
    this.parameters.show([], active.params, [], null);
    this.#results?.open(active);
  }

  #showText() {
    const { path, text, language } = this.workspace.active;
    this.view.setDocument({ path, text, dialect: this.dialect, language, readOnly: !this.workspace.mayType });
  }

  #alert(text) {
    this.banner.hidden = !text;
    this.banner.textContent = text;
  }

  /** Changes the text in a way that the author can undo. */
  #edit(edit) {
    this.view.applyEdit(edit);
    this.view.focus();
  }

  #replace(document, text) {
    if (document === this.workspace.active && text !== this.view.text) this.view.applyEdit(editBetween(this.view.text, text));
    if (document.text !== text) this.workspace.typed(text, document);
  }

  /** Runs an action of the author. An error is shown above the text. */
  async #perform(action) {
    this.#alert("");
    this.commands.say("");
    try {
      return await action();
    } catch (error) {
      this.#alert(error.message);
      return undefined;
    }
  }

  async #loadResults() {
    if (this.#results) return this.#results;
    const { Results } = await load("editor_results.js");
    if (this.#results) return this.#results;
    this.#results = new Results(this.workspace, { go: (offset) => this.view.focusAt(offset), restore: (entry) => this.#restore(entry) });
    this.below.replaceChildren(this.#results.element);
    if (this.workspace.active) this.#results.open(this.workspace.active);
    if (this.meaning) this.#results.mean(this.meaning);
    return this.#results;
  }

  // --- commands -------------------------------------------------------------------------------------------------------

  run() {
    const { workspace } = this;
    const { active, choice } = workspace;
    if (active?.language !== "sql") return;
    if (!workspace.may("run")) return this.commands.say(workspace.denied);
    this.#perform(async () => {
      if (!choice.group) throw new Error("Choose a group first.");
      this.#run?.stop();
      const run = new Run(workspace.body(active, ...RUN));
      this.#run = run;
      this.commands.running(true);
      const results = await this.#loadResults();
      results.begin(active, run, choice.group);
      await run.start(() => results.update(run));
      if (this.#run === run) this.commands.running(false);
    });
  }

  /** The rows of a saved query, for the fields of parameters. */
  async #rowsOf(name) {
    const { workspace } = this;
    if (!workspace.may("run") || !workspace.choice.group) return [];
    const { path, text } = await workspace.read(`queries/${name}.sql`);
    const run = await new Run({ ...workspace.body(workspace.active, ...RUN), path, text, params: {} }).start(() => {});
    return run.rows;
  }

  save() {
    const { workspace } = this;
    const { active } = workspace;
    if (!active) return;
    if (!workspace.may("save")) return this.commands.say(workspace.denied);
    this.#perform(async () => {
      const behind = workspace.unsavedBehind(active);
      if (!behind.length) return (await this.#save([active]))?.();
      const names = behind.map(({ name }) => name).join(", ");
      showDialog(`Save ${names}, too?`, [html("p", {}, `${active.name} uses text that is not saved. Without it, others see ${active.name} with an older text or a mistake.`)], [
        { label: "Save all", run: () => this.#save([...behind, active]) },
        { label: `Only ${active.name}`, quiet: true, run: () => this.#save([active]) },
      ]);
    });
  }

  /** Saves documents one after the other. If there is a conflict, returns a function that shows the first one. */
  async #save(documents) {
    for (const document of documents) {
      const theirs = await this.workspace.save(document);
      if (theirs) return () => this.#conflict(document, theirs);
    }
    const { active } = this.workspace;
    if (documents.includes(active) && !active.changed) this.commands.say("Saved");
  }

  #conflict(active, theirs) {
    return showConflict(active, theirs, {
      take: (text) => {
        active.saved = text;
        active.revision = theirs.revision;
        this.#replace(active, text);
        this.workspace.typed(text, active);
      },
      keep: async (text) => {
        this.#replace(active, text);
        const again = await this.workspace.save(active, theirs.revision);
        if (again) throw new Error("The file was saved again meanwhile. Close this and save once more.");
        this.commands.say("Saved");
      },
    });
  }

  format() {
    const { active } = this.workspace;
    if (active?.language !== "sql") return;
    this.#perform(async () => {
      const { path, text } = active;
      const answer = await ask("format", { path, text, dialect: this.dialect });
      if (active.text !== text) return; // the author has changed the text meanwhile
      if (answer.text === text) this.commands.say(answer.message ?? "Nothing to change");
      else this.#replace(active, answer.text);
    });
  }

  /** Shows the differences from the last commit, or shows the text again. */
  changes() {
    if (this.#diff) return this.#endDiff();
    const { active } = this.workspace;
    this.#perform(async () => {
      const { text } = await ask("file/head", { path: active.path });
      const { openDiff } = await load("editor_diff.js");
      if (active !== this.workspace.active) return;
      this.view.hidden = true;
      this.diffHost.hidden = false;
      const { language } = active;
      this.#diff = openDiff(this.diffHost, { mine: active.text, theirs: text ?? "", labels: ["Last commit", "Now"], language, dialect: this.dialect });
      this.commands.comparing(true);
    });
  }

  #endDiff() {
    if (!this.#diff) return;
    this.#diff.close();
    this.#diff = null;
    this.diffHost.hidden = true;
    this.view.hidden = false;
    this.commands.comparing(false);
  }

  #restore({ path, text }) {
    this.#perform(async () => {
      const { documents } = this.workspace;
      if (!documents.has(path)) await this.workspace.open(path).catch((error) => (error.status === 404 ? this.workspace.create(path, text) : Promise.reject(error)));
      else this.workspace.show(path);
      this.#replace(documents.get(path), text);
    });
  }

  #entries() {
    const { workspace } = this;
    const { active } = workspace;
    const found = [];
    const add = (label, action) => found.push({ label, run: () => this.#perform(action) });
    const query = active.language === "sql";
    if (query) add("Read the catalogue again", () => this.language.refresh());
    if (query && workspace.may("save")) add("Add a panel of this query…", async () => (await this.#loadResults()).addPanel(active, (dashboard, text) => {
      const { from } = editBetween(dashboard.text, text);
      this.#replace(dashboard, text);
      return () => this.view.focusAt(from);
    }));
    if (workspace.git) add("Commit message…", async () => {
      const { message } = await ask("commit-message", {});
      if (message) showCopy("Commit message", message);
      else this.commands.say("Nothing has changed since the last commit");
    });
    if (active.changed && active.saved !== null && workspace.mayType) add("Discard changes", () => this.#replace(active, active.saved));
    if (!workspace.may("save")) return found;
    const used = active.usedBy.length ? `Dashboards that use it: ${active.usedBy.join(", ")}. Change them, too: without the query they cannot be shown.` : "";
    add("Rename…", () => askPath("Rename", "Rename", active.path, (to) => workspace.rename(active, to), used));
    add("Delete…", () => showDialog(`Delete ${active.path}?`, [html("p", {}, workspace.git ? "Git keeps what has been committed." : "There is no other copy of it."), used && html("p", { class: "warning" }, used)], [{ label: "Delete", run: () => workspace.remove(active) }, { label: "Cancel", quiet: true }]));
    return found;
  }
}
