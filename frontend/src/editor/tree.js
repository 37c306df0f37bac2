// The files of the folder. Changed files are marked.

import { html } from "../dashboards/dom.js";
import { nameOf } from "./document.js";
import { askPath } from "./dialogs.js";

const MARKS = { changed: ["M", "changed since the last commit"], new: ["N", "not in the last commit"] };

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @param {(error: Error) => void} failed
 * @param {() => void} created called when a new file is open and its dialog is closed
 * @returns {HTMLElement}
 */
export function fileTree(workspace, failed, created) {
  const element = html("nav", { class: "tree", "aria-label": "Files", keydown: move });
  const open = (path) => workspace.open(path).catch(failed);
  let shown;

  function entry({ path, status }) {
    const draft = workspace.isDraft(path);
    const [letter, words] = MARKS[status] ?? [];
    const current = workspace.active?.path === path;
    return html(
      "li",
      {},
      html(
        "button",
        { type: "button", class: "file", "data-path": path, title: path, tabindex: "-1", "aria-current": current ? "true" : null, click: () => open(path) },
        html("span", { class: "file-name" }, shortened(path)),
        letter && html("span", { class: "file-mark" }, html("span", { "aria-hidden": "true", title: words }, letter), html("span", { class: "visually-hidden" }, words)),
        draft && html("span", { class: "file-draft" }, html("span", { class: "visually-hidden" }, "not saved")),
      ),
    );
  }

  function part(title, files, create) {
    const add = create && workspace.may("save") && html("button", { type: "button", class: "link", "aria-label": `New file in ${title}`, click: create }, "New");
    return html("section", {}, html("div", { class: "tree-head" }, html("h2", {}, title), add), html("ul", {}, ...files.map(entry)));
  }

  function show() {
    shown = workspace.changedPaths();
    const had = element.contains(document.activeElement) ? document.activeElement.dataset.path : null;
    const queries = workspace.files.filter(({ kind }) => kind === "query");
    const dashboards = workspace.files.filter(({ kind }) => kind === "dashboard");
    const { schema } = workspace.choice;
    const others = workspace.files.filter((each) => !queries.includes(each) && !dashboards.includes(each));
    element.replaceChildren(
      part("Queries", queries, () => create(startOf(queries, "queries/"), "query.sql", "")),
      part("Dashboards", dashboards, () => create(startOf(dashboards, "dashboards/"), "dashboard.yaml", `title: \n${schema === "main" ? "" : `schema: ${schema}\n`}rows:\n`)),
      ...(others.length ? [part("Other files", others)] : []),
    );
    const buttons = [...element.querySelectorAll(".file")];
    (buttons.find(({ dataset }) => dataset.path === (had ?? workspace.active?.path)) ?? buttons[0])?.setAttribute("tabindex", "0");
    if (had) buttons.find(({ dataset }) => dataset.path === had)?.focus();
  }

  function create(folder, name, text) {
    askPath("New file", "Create", folder + name, async (path) => {
      await workspace.requireFree(path);
      workspace.create(path, text);
      return created;
    });
  }

  workspace.on("files open saved", show);
  workspace.on("open", () => element.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  workspace.on("text", () => shown !== workspace.changedPaths() && show());
  return element;
}

/** The path without the folder and the suffix that all files of a kind have. */
function shortened(path) {
  return path.replace(/^(queries|dashboards)\//, "").replace(/\.(sql|ya?ml)$/, "") || nameOf(path);
}

function startOf(files, usual) {
  const folders = files.map(({ path }) => path.slice(0, path.indexOf("/") + 1));
  return folders[0] ?? usual;
}

/** Moves between the files by arrow keys. */
function move(event) {
  const buttons = [...event.currentTarget.querySelectorAll(".file")];
  const at = buttons.indexOf(document.activeElement);
  const next = at < 0 ? undefined : { ArrowDown: Math.min(at + 1, buttons.length - 1), ArrowUp: Math.max(at - 1, 0), Home: 0, End: buttons.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
}
