// The engine's plan of the query, which is requested when its tab is opened.

import { html } from "../../dashboards/dom.js";
import { ask } from "../client.js";
import { RUN } from "../workspace.js";

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {() => {document: import("../document.js").Document} | null} current
 */
export function plan(workspace, current) {
  const element = html("div", { class: "plan" });
  let asked = "";

  async function shown() {
    const { document } = current() ?? {};
    if (!document || document.language !== "sql" || !workspace.choice.group) return say("Choose a group to see the plan of its query.");
    const body = workspace.body(document, ...RUN);
    const key = JSON.stringify(body);
    if (key === asked) return;
    asked = key;
    say("Asking the engine …");
    try {
      const { text } = await ask("plan", body);
      if (key !== asked) return;
      if (text === null) say("This engine explains no plans.");
      else element.replaceChildren(html("pre", { tabindex: "0", "aria-label": "Plan" }, text));
    } catch (error) {
      if (key !== asked) return;
      asked = "";
      element.replaceChildren(html("div", { class: "panel-failed", role: "alert" }, html("p", {}, error.message)));
    }
  }

  function say(text) {
    element.replaceChildren(html("p", { class: "hint" }, text));
  }

  return {
    element,
    shown,
    reset() {
      asked = "";
      if (!element.closest("[hidden]")) shown();
    },
  };
}
