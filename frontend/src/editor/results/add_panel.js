// Adds a panel with the query to the file of a dashboard.

import { html } from "../../dashboards/dom.js";
import { isNumeric } from "../../dashboards/numbers.js";
import { ask } from "../client.js";
import { field, showDialog } from "../dialogs.js";

export const TIMES = ["date", "datetime"];
const KINDS = [["line", "Line"], ["bars", "Bars"], ["figure", "Key figure"], ["table", "Table"]];

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {import("../document.js").Document} document the document of the query
 * @param {import("../run.js").Run | undefined} run the last run of the query, whose columns are offered
 * @param {(dashboard: import("../document.js").Document, text: string) => () => void} put writes the dashboard's new text; returns a
 *   function that shows the panel in it
 */
export function addPanel(workspace, document, run, put) {
  const dashboards = workspace.files.filter(({ kind }) => kind === "dashboard").map(({ path }) => path);
  if (!dashboards.length) throw new Error("There is no dashboard yet. Make one on the left first.");
  if (!run?.columns.length) throw new Error("Run the query first: the panel is made of its columns.");
  const columns = run.columns.map(({ name }) => name);
  const numeric = run.columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name);
  const dashboard = select(dashboards.map((path) => [path, path]));
  const first = run.columns.find(({ name }) => !numeric.includes(name));
  const kind = select(KINDS, () => show(), TIMES.includes(first?.type) ? "line" : "bars");
  const column = select((numeric.length ? numeric : columns).map((name) => [name, name]));
  const by = select(columns.map((name) => [name, name]), undefined, first?.name);
  const fields = { column: field("Column", column), by: field("By", by) };

  function show() {
    fields.column.hidden = kind.value === "table";
    fields.by.hidden = kind.value === "table" || kind.value === "figure";
  }

  const add = async () => {
    const path = dashboard.value;
    const before = (await workspace.read(path)).text;
    const shown = { ...(kind.value === "table" && { columns }), ...(!fields.column.hidden && { column: column.value }), ...(!fields.by.hidden && { by: by.value }) };
    const { text } = await ask("add-panel", { dashboard: path, text: before, query: document.path, kind: kind.value, ...shown });
    await workspace.open(path);
    const target = workspace.documents.get(path);
    return put(target, text);
  };
  show();
  showDialog("Add a panel of this query", [field("Dashboard", dashboard), field("Kind", kind), fields.column, fields.by], [{ label: "Add", run: add }, { label: "Cancel", quiet: true }]);
}

function select(choices, change, value) {
  const input = html("select", { change });
  input.append(...choices.map(([each, label]) => html("option", { value: each, selected: each === value }, label)));
  return input;
}
