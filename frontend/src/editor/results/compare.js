// Compares two groups: runs the same query for both, and shows what differs.

import { html } from "../../dashboards/dom.js";
import { columnsOf, fade } from "../../dashboards/tables.js";
import { Rows } from "../../dashboards/charts/rows.js";
import { groupPicker } from "../group_picker.js";
import { Run } from "../run.js";
import { RUN } from "../workspace.js";
import { differences } from "./differences.js";

/** Maximum cells that are shown for one group. */
const MOST = 5_000;
const ONLY = "only here";

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {import("../../dashboards/values.js").Formats} formats
 * @param {() => {document: import("../document.js").Document} | null} current
 */
export function compare(workspace, formats, current) {
  let other = null;
  let runs = [];
  const picker = groupPicker("Compare with", () => workspace.choice.environment, (group) => {
    other = group;
    picker.show(group);
    start();
  });
  const again = html("button", { type: "button", class: "quiet-button", hidden: true, click: start }, "Compare again");
  const word = html("p", { class: "count", role: "status" });
  const sides = html("div", { class: "sides" });
  const element = html("div", { class: "compare" }, html("div", { class: "compare-head" }, picker.element, again, word), sides);
  picker.show(null);

  async function start() {
    const { document } = current() ?? {};
    const { group } = workspace.choice;
    if (!document || !group || !other) return;
    for (const run of runs) run.stop();
    const body = workspace.body(document, ...RUN);
    const mine = [new Run(body), new Run({ ...body, group: other.id })];
    runs = mine;
    again.hidden = false;
    word.textContent = "Running both …";
    sides.replaceChildren();
    await Promise.all(mine.map((run) => run.start(() => {})));
    if (runs === mine) show([group, other]);
  }

  function show(groups) {
    if (runs.some(({ stopped }) => stopped)) return;
    if (runs.some(({ error }) => error)) {
      word.textContent = "";
      return sides.replaceChildren(...runs.map((run, side) => (run.error ? failedSide(run, groups[side]) : sideOf(run, side, groups, alone(run), false))));
    }
    const [left, right] = runs;
    const alike = JSON.stringify(left.columns.map(({ name }) => name)) === JSON.stringify(right.columns.map(({ name }) => name));
    const found = differences(left.rows, right.rows);
    word.textContent = alike ? summary(found, groups, shownOf(left)) : "The two results have different columns.";
    const pairs = found.pairs.slice(0, shownOf(left));
    const tables = runs.map((run, side) => sideOf(run, side, groups, pairs, alike));
    sides.replaceChildren(...tables);
    together(tables.map((table) => table.querySelector(".table-scroller")));
  }

  function summary({ pairs, changed, onlyLeft, onlyRight, byFirst }, groups, shown) {
    const count = (value) => formats.text(value, { type: "integer" });
    const rows = `${count(pairs.length)} ${pairs.length === 1 ? "row" : "rows"}`;
    const found = [
      changed && `${count(changed)} ${changed === 1 ? "differs" : "differ"}`,
      onlyLeft && `${count(onlyLeft)} only for ${groups[0].name}`,
      onlyRight && `${count(onlyRight)} only for ${groups[1].name}`,
    ].filter(Boolean);
    const said = [
      found.length ? `Of ${rows}: ${found.join(", ")}.` : `Both have the same ${rows}.`,
      !byFirst && "Rows are compared by their place.",
      pairs.length > shown && `The first ${count(shown)} are shown.`,
    ];
    return said.filter(Boolean).join(" ");
  }

  function sideOf(run, side, groups, pairs, alike) {
    const rows = pairs.map((pair) => [pair.left, pair.right][side]);
    const there = new Rows(run.columns, rows.filter(Boolean));
    const columns = columnsOf(run.columns.map(({ name }) => ({ name, title: name })), there, formats);
    const head = html("tr", {}, html("th", { scope: "col", class: "sign" }, html("span", { class: "visually-hidden" }, "Difference")), ...columns.map(({ title, numeric }) => html("th", { scope: "col", class: numeric ? "number" : null }, title)));
    const body = rows.map((row, at) => {
      const { cells, left, right } = pairs[at];
      const only = !left || !right;
      const [sign, words] = !alike ? ["", ""] : only ? (row ? ["+", ONLY] : ["−", "not here"]) : cells.size ? ["≠", "differs"] : ["", ""];
      const mark = html("td", { class: "sign" }, html("span", { "aria-hidden": "true" }, sign), html("span", { class: "visually-hidden" }, words));
      if (!row) return html("tr", { class: "lacks" }, mark, html("td", { colspan: columns.length }, "not here"));
      const values = columns.map(({ way, numeric }, place) => html("td", { class: [numeric && "number", alike && cells.has(place) && "differs"].filter(Boolean).join(" ") || null }, html("span", { class: "cell" }, formats.text(row[place], way))));
      return html("tr", { class: only && alike ? "only" : null }, mark, ...values);
    });
    const scroller = html("div", { class: "table-scroller", tabindex: "0", role: "group", "aria-label": groups[side].name }, html("table", {}, html("thead", {}, head), html("tbody", {}, ...body)));
    scroller.addEventListener("scroll", () => fade(scroller), { passive: true });
    return html("section", { class: "side" }, headOf(groups[side]), html("div", { class: "table" }, scroller));
  }

  function failedSide({ error }, group) {
    return html("section", { class: "side" }, headOf(group), html("div", { class: "panel-failed", role: "alert" }, html("p", { class: "failure" }, error.message)));
  }

  function headOf({ id, name }) {
    return html("h3", {}, html("span", { class: "group-name", title: name }, name), html("span", { class: "option-id" }, id));
  }

  return {
    element,
    show: () => {
      again.hidden = !other;
    },
    reset() {
      for (const run of runs) run.stop();
      runs = [];
      word.textContent = other ? "" : "Choose a second group: both results are shown beside each other.";
      sides.replaceChildren();
      again.hidden = !other;
    },
  };
}

/** The rows of a run as pairs, if there is no other run to compare with. */
function alone(run) {
  return run.rows.slice(0, shownOf(run)).map((row) => ({ left: row, right: row, cells: new Set() }));
}

/** How many rows are shown. */
function shownOf({ columns }) {
  return Math.floor(MOST / columns.length);
}

/** Makes both tables scroll together. */
function together([one, other]) {
  for (const [from, to] of [[one, other], [other, one]]) {
    from.addEventListener("scroll", () => {
      if (Math.abs(to.scrollTop - from.scrollTop) > 1) to.scrollTop = from.scrollTop;
      if (Math.abs(to.scrollLeft - from.scrollLeft) > 1) to.scrollLeft = from.scrollLeft;
    }, { passive: true });
  }
}
