// The tabs of the open files.

import { html, icon } from "../dashboards/dom.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @returns {HTMLElement}
 */
export function openFiles(workspace) {
  const list = html("ul", {});
  let shown;
  const element = html("nav", { class: "tabs", "aria-label": "Open files" }, list);

  function tab(document) {
    const { path, name, changed } = document;
    const current = document === workspace.active;
    const close = () => {
      workspace.close(path);
      (list.querySelector("[aria-current] .tab-name, .tab-name"))?.focus();
    };
    return html(
      "li",
      { class: "tab", "aria-current": current ? "page" : null },
      html("button", { type: "button", class: "tab-name", title: path, "aria-current": current ? "page" : null, click: () => workspace.show(path) }, name, changed && html("span", { class: "file-draft" }, html("span", { class: "visually-hidden" }, "not saved"))),
      html("button", { type: "button", class: "icon-button", "aria-label": `Close ${name}`, click: close }, icon("close")),
    );
  }

  function show() {
    shown = workspace.changedPaths();
    const focused = list.contains(globalThis.document.activeElement) ? globalThis.document.activeElement.title : null;
    list.replaceChildren(...[...workspace.documents.values()].map(tab));
    element.hidden = !workspace.documents.size;
    if (focused) [...list.querySelectorAll(".tab-name")].find(({ title }) => title === focused)?.focus();
    reveal();
  }

  function reveal() {
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  new ResizeObserver(reveal).observe(element);

  workspace.on("open saved files", show);
  workspace.on("text", () => shown !== workspace.changedPaths() && show());
  return element;
}
