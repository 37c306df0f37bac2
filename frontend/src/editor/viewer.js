// The viewer of a run: an id and attributes, which queries read as viewer.*.

import { freshId, html, icon } from "../dashboards/dom.js";
import { popover } from "../dashboards/popover.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @returns {{element: HTMLElement, show: () => void}}
 */
export function viewerFields(workspace) {
  const id = freshId("viewer");
  const rows = html("div", { class: "viewer-rows" });
  const name = html("span", { class: "choice-text" });
  const button = html("button", { type: "button", class: "choice", id, "aria-haspopup": "dialog", "aria-labelledby": `${id}-label ${id}` }, name, icon("down"));
  const content = html("div", { class: "choices-panel", role: "dialog", "aria-label": "Viewer" }, html("p", { class: "count" }, "Queries read these as viewer.id and viewer.NAME."), rows);
  popover(button, content, { opened: () => (fill(), rows.querySelector("input").focus()) });

  function fill() {
    const given = Object.entries(workspace.choice.viewer ?? {});
    const all = [["id", workspace.choice.viewer?.id ?? ""], ...given.filter(([key]) => key !== "id"), ["", ""]];
    rows.replaceChildren(...all.map(([key, value], place) => row(key, value, place)));
  }

  function row(key, value, place) {
    const label = place ? html("input", { value: key, "aria-label": "Attribute", placeholder: "attribute", autocomplete: "off", spellcheck: "false", input: changed }) : html("span", {}, "id");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return html("div", { class: "viewer-row" }, label, html("input", { value: text, "aria-label": place ? `Value of ${key || "the attribute"}` : "id", autocomplete: "off", spellcheck: "false", input: changed }));
  }

  function changed() {
    const found = {};
    for (const { children } of rows.children) {
      const key = children[0].value?.trim() ?? "id";
      if (key && children[1].value) found[key] = key === "id" ? children[1].value : parsed(children[1].value);
    }
    workspace.choose({ viewer: Object.keys(found).length ? found : null });
    const last = rows.lastElementChild.children;
    if (last[0].value) rows.append(row("", "", rows.children.length));
  }

  return {
    element: html("div", { class: "control" }, html("span", { class: "control-label", id: `${id}-label` }, "Viewer"), html("div", { class: "holder" }, button, content)),
    show() {
      const { id: own, ...attributes } = workspace.choice.viewer ?? {};
      name.textContent = [own, ...Object.entries(attributes).map(([key, value]) => `${key}: ${value}`)].filter(Boolean).join(", ") || "None";
    },
  };
}

/** Reads a number, true, false or a list as JSON; any other text is a string. */
function parsed(text) {
  if (!/^(-?\d|true$|false$|\[)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
