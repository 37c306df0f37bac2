// The head of the page: the group and viewer as whom queries run.

import { html, icon } from "../dashboards/dom.js";
import { ask } from "./client.js";
import { groupPicker } from "./group_picker.js";
import { leave } from "./session.js";
import { viewerFields } from "./viewer.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @param {(error: Error) => void} failed
 * @returns {HTMLElement}
 */
export function head(workspace, failed) {
  const { state } = workspace;
  const environments = select("Environment", state.environments, (environment) => workspace.choose({ environment, group: null, schema: "main" }));
  const group = groupPicker("As", () => workspace.choice.environment, ({ id, name }) => workspace.choose({ group: { id, name } }));
  const viewer = viewerFields(workspace);
  const schemas = select("Schema", ["main"], (schema) => workspace.choose({ schema }));
  const note = html("span", { class: "group-note" });
  let shown = "";

  async function describe() {
    const { environment, group: chosen } = workspace.choice;
    const key = JSON.stringify([environment, chosen?.id]);
    if (key === shown) return;
    shown = key;
    note.textContent = "";
    try {
      if (!chosen) {
        const { groups } = await ask("groups", { environment, search: "" });
        if (shown === key && groups.length) workspace.choose({ group: { id: groups[0].id, name: groups[0].name } });
        return;
      }
      const about = await ask("group", { environment, group: chosen.id });
      if (shown !== key) return;
      if (about.name !== chosen.name) workspace.choose({ group: { id: about.id, name: about.name } });
      workspace.schemas = about.schemas.length ? about.schemas : ["main"];
      schemas.fill(workspace.schemas);
      note.textContent = about.suspended ? "suspended" : "";
      if (!about.schemas.includes(workspace.choice.schema)) workspace.choose({ schema: about.schemas[0] ?? "main" });
      schemas.show(workspace.choice.schema);
      workspace.emit("schemas");
    } catch (error) {
      shown = "";
      if (error.code === "unknown_group") workspace.choose({ group: null });
      else failed(error);
    }
  }

  function show() {
    environments.show(workspace.choice.environment);
    group.show(workspace.choice.group);
    schemas.show(workspace.choice.schema);
    viewer.show();
    if (state.environments.length) describe();
  }

  workspace.on("choice", show);
  environments.fill(state.environments);
  show();
  return html(
    "header",
    { class: "head" },
    html("h1", {}, "SQL editor"),
    group.element,
    note,
    viewer.element,
    environments.element,
    schemas.element,
    workspace.may("unguarded") && unguarded(workspace),
    html("span", { class: "author" }, state.author),
    state.has_session && html("button", { type: "button", class: "link", click: () => leave(workspace).catch(failed) }, "Log out"),
  );
}

function unguarded(workspace) {
  const change = ({ target }) => {
    workspace.unguarded = target.checked;
    document.body.classList.toggle("unguarded", target.checked);
    workspace.emit("choice");
  };
  return html("label", { class: "unguarded-choice" }, html("input", { type: "checkbox", change }), "Without guards");
}

/** A select with its label. Both are hidden if there is nothing to choose. */
function select(label, values, choose) {
  const input = html("select", { "aria-label": label, change: () => choose(input.value) });
  const element = html("div", { class: "control" }, html("span", { class: "control-label" }, label), html("span", { class: "select" }, input, icon("down")));
  const fill = (names) => {
    input.replaceChildren(...names.map((name) => html("option", { value: name }, name)));
    element.hidden = names.length < 2;
  };
  fill(values);
  return { element, fill, show: (value) => (input.value = value) };
}
