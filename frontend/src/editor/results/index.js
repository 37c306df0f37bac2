// The bundle for the area below a query: rows, a chart, the bound SQL, the plan, a comparison of two groups, a sample of groups, and
// earlier runs.

import { html } from "../../dashboards/dom.js";
import { firstStep } from "../commands.js";
import { Formats } from "../../dashboards/values.js";
import { addPanel } from "./add_panel.js";
import { boundSql } from "./bound.js";
import { chart } from "./chart.js";
import { compare } from "./compare.js";
import { ExactFormats } from "./exact_formats.js";
import { factsOf } from "./facts.js";
import { earlierRuns, remember } from "./history.js";
import { plan } from "./plan.js";
import { sample } from "./sample.js";
import { ResultTable } from "./table.js";
import { tabs } from "./tabs.js";

export class Results {
  /** @type {Map<string, {run: import("../run.js").Run, group: any}>} the last run of each file */
  #runs = new Map();
  #document = null;
  #due = false;
  #meaning = null;

  /**
   * @param {import("../workspace.js").Workspace} workspace
   * @param {{go: (offset: number) => void, restore: (entry: any) => void}} actions
   */
  constructor(workspace, { go, restore }) {
    this.workspace = workspace;
    this.formats = new Formats();
    const current = () => this.#document && { document: this.#document, ...this.#runs.get(this.#document) };
    this.facts = html("div", { class: "facts" });
    const exact = new ExactFormats();
    this.table = new ResultTable(exact, go, firstStep(workspace));
    const mayRun = workspace.may("run");
    this.parts = {
      Table: this.table,
      Chart: chart(this.formats),
      "Bound SQL": boundSql(this.formats),
      ...(mayRun && { Plan: plan(workspace, current), Compare: compare(workspace, exact, current), Sample: sample(workspace, current), History: earlierRuns(workspace, restore) }),
    };
    this.tabs = tabs("Result", this.parts);
    this.element = html("div", { class: "results" }, html("div", { class: "results-head" }, this.tabs.list, this.facts), ...this.tabs.panels);
  }

  /** Shows the last run of a file. */
  open(document) {
    this.#document = document;
    this.#meaning = null;
    this.#show();
    this.parts.Compare?.reset();
    this.parts.Sample?.reset();
  }

  /** Call this when another group, schema or viewer was chosen. */
  chosen() {
    this.parts.Plan?.reset();
    this.parts.Compare?.show();
    this.#showFacts();
  }

  /** Shows what each tag becomes for the chosen group, until a run reports it. */
  mean(meaning) {
    this.#meaning = meaning;
    this.#showBound();
  }

  /** @param {import("../run.js").Run} run the run that begins */
  begin(document, run, group) {
    this.#runs.set(document, { run, group });
    if (!["Table", "Chart", "Bound SQL"].includes(this.tabs.selected)) this.tabs.select("Table");
    this.parts.Plan?.reset();
    remember(this.workspace, document, group);
    this.#show();
  }

  /** Call this for each message of a run. Draws once for all messages before the next frame. */
  update(run) {
    const { run: shown } = this.#runs.get(this.#document) ?? {};
    if (this.#due || run !== shown) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#show();
    });
  }

  #show() {
    const run = this.#showFacts();
    this.element.classList.toggle("is-unguarded", Boolean(run?.started?.unguarded ?? run?.body.unguarded));
    this.table.show(run);
    this.parts.Chart.show(run);
    this.#showBound();
  }

  #showFacts() {
    const { run = null, group } = this.#runs.get(this.#document) ?? {};
    this.facts.replaceChildren(...factsOf(run, group, this.formats, this.workspace));
    return run;
  }

  /**
   * Shows the bound SQL of the run if it is for the current text and group, because it has all parameters. Otherwise shows the current
   * meaning.
   */
  #showBound() {
    const { run, group } = this.#runs.get(this.#document) ?? {};
    if (run?.started && run.body.text === this.#document.text && group.id === this.workspace.choice.group?.id) return this.parts["Bound SQL"].show(run.started);
    const meaning = this.#meaning;
    const now = meaning && {
      ...meaning,
      parameters: meaning.placeholders.filter(({ placeholder }) => placeholder !== null),
      guards: meaning.tables.map(({ name, kind }) => ({ table: name, condition: kind === "guarded" ? "" : null })),
    };
    this.parts["Bound SQL"].show(now);
  }

  /** Asks for the dashboard and kind of a new panel with the query. `put`: see add_panel.js. */
  addPanel(document, put) {
    return addPanel(this.workspace, document, this.#runs.get(document)?.run, put);
  }
}
