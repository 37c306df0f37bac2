// The commands for the open file.

import { html } from "../dashboards/dom.js";
import { menuOf } from "../dashboards/panel_menu.js";

const MAC = /Mac|iP(hone|ad)/.test(navigator.platform);
export const KEYS = { run: MAC ? "⌘↩" : "Ctrl+Enter", save: MAC ? "⌘S" : "Ctrl+S" };

/** The hint for an author who has not run the query yet. */
export const firstStep = (workspace) => (workspace.may("run") ? `Run the query to see its rows: ${KEYS.run}` : "You have no right to run queries, so there are no rows.");

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @param {Record<string, () => any>} actions run, stop, save, format, changes
 * @param {() => {label: string, run: () => any}[]} more entries of the menu
 * @returns {{element: HTMLElement, running: (is: boolean) => void, say: (text: string) => void, comparing: (is: boolean) => void}}
 */
export function commandBar(workspace, actions, more) {
  const button = (label, action, attributes = {}) => html("button", { type: "button", class: "quiet-button", click: action, ...attributes }, label);
  const run = button("Run", actions.run, { class: "button", title: KEYS.run, "aria-keyshortcuts": "Control+Enter Meta+Enter" });
  const stop = button("Stop", actions.stop, { hidden: true });
  const save = button("Save", actions.save, { title: KEYS.save, "aria-keyshortcuts": "Control+S Meta+S" });
  const format = button("Format", actions.format);
  const changes = button("Changes", actions.changes, { "aria-pressed": "false", title: "What differs from the last commit" });
  const denied = html("p", { class: "count" });
  const word = html("p", { class: "count command-word", role: "status" });
  const menu = menuOf("the file", more);
  const element = html("div", { class: "commands", role: "group", "aria-label": "Commands" }, run, stop, save, format, denied, changes, menu, word);

  function show() {
    const { active } = workspace;
    element.hidden = !active;
    if (!active) return;
    const query = active.language === "sql";
    run.hidden = !query || !workspace.may("run") || !stop.hidden;
    save.hidden = format.hidden = !workspace.may("save");
    format.hidden ||= !query;
    save.disabled = !active.changed;
    changes.hidden = !workspace.git;
    denied.textContent = workspace.denied;
    denied.hidden = !workspace.denied;
  }

  workspace.on("open saved files text choice", show);
  workspace.on("open text", () => (word.textContent = ""));
  return {
    element,
    running(is) {
      const focused = element.contains(document.activeElement);
      stop.hidden = !is;
      show();
      if (focused) (is ? stop : run).focus();
    },
    comparing: (is) => changes.setAttribute("aria-pressed", String(is)),
    say: (text) => (word.textContent = text),
  };
}
