// The runs of this author in this browser: their texts and groups, never their rows.

import { html } from "../../dashboards/dom.js";
import { nameOf } from "../document.js";

const NAME = "history";
const MOST = 100;
/** Maximum characters of a text that is kept. */
const LONGEST = 20_000;

/** Keeps a run that begins. If the same text was run as the same group before, only the new run is kept. */
export function remember({ keeper, choice }, { path, text }, { id, name }) {
  if (text.length > LONGEST) return;
  const others = (keeper.get(NAME) ?? []).filter((each) => each.path !== path || each.text !== text || each.group.id !== id);
  keeper.put(NAME, [{ at: Date.now(), path, text, environment: choice.environment, group: { id, name } }, ...others].slice(0, MOST));
}

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {(entry: {path: string, text: string}) => void} restore shows a text in the editor again
 */
export function earlierRuns(workspace, restore) {
  const element = html("div", { class: "history" });
  const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  function again(entry) {
    if (entry.environment === workspace.choice.environment) workspace.choose({ group: entry.group });
    restore(entry);
  }

  function row(entry) {
    const first = entry.text.split("\n").find((line) => line.trim() && !line.startsWith("--")) ?? "";
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, html("button", { type: "button", class: "link", title: "Bring this text back", click: () => again(entry) }, nameOf(entry.path))),
      html("td", {}, entry.group.name),
      html("td", {}, times.format(entry.at)),
      html("td", { class: "first-line" }, html("code", {}, first.trim())),
    );
  }

  function shown() {
    const entries = workspace.keeper.get(NAME) ?? [];
    if (!entries.length) return element.replaceChildren(html("p", { class: "hint" }, "Your runs in this browser are listed here: texts and groups, no rows."));
    const clear = () => (workspace.keeper.drop(NAME), shown());
    const heads = ["File", "Group", "Time", "Text"];
    const table = html("table", {}, html("caption", { class: "visually-hidden" }, "Earlier runs"), html("thead", {}, html("tr", {}, ...heads.map((each) => html("th", { scope: "col" }, each)))), html("tbody", {}, ...entries.map(row)));
    element.replaceChildren(html("div", { class: "table" }, table), html("button", { type: "button", class: "link", click: clear }, "Clear the history"));
  }

  return { element, shown };
}
