// The dashboard as the chosen group sees it, beside its file.

import { html } from "../dashboards/dom.js";
import { ask } from "./client.js";
import { latest } from "./latest.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @returns {HTMLElement}
 */
export function preview(workspace) {
  const frame = html("iframe", { title: "Preview of the dashboard", hidden: true });
  const word = html("p", { class: "count", role: "status" }, "Choose a group to see the dashboard as it does.");
  const element = html("section", { class: "preview", "aria-label": "Preview" }, word, frame);

  const request = () => {
    const { active } = workspace;
    const { drafts, ...chosen } = workspace.body(active, "drafts", "environment", "group", "viewer");
    return ask("preview", { dashboard: active.path, drafts: active.changed ? { ...drafts, [active.path]: active.text } : drafts, ...chosen });
  };
  const use = ({ address }) => {
    if (!workspace.active?.isDashboard) return;
    const { group } = workspace.choice;
    word.textContent = `As ${group.name}${workspace.active.changed ? ", with text that is not saved" : ""}`;
    word.classList.remove("problem");
    frame.hidden = false;
    frame.src = address;
  };
  const failed = (error) => {
    word.textContent = error.message; // the last good preview stays
    word.classList.add("problem");
  };
  const renew = latest(request, use, failed);
  let shown;
  workspace.on("text open choice saved", () => {
    const { active, choice } = workspace;
    if (!active?.isDashboard || !choice.group) return;
    if (active.path !== shown) frame.hidden = true;
    shown = active.path;
    renew();
  });
  return element;
}
