// The entry point of the page: finds out who the author is, and then starts the editor.

import { html } from "../dashboards/dom.js";
import "./code/element.js";
import { Keeper } from "./keeper.js";
import { enter, noAuthor, watchSession } from "./session.js";
import { Shell } from "./shell.js";
import { Workspace } from "./workspace.js";

async function open() {
  const root = document.getElementById("editor");
  try {
    const { state, first } = await enter();
    const workspace = new Workspace(state, new Keeper(state.author), first);
    const shell = new Shell(workspace, html("tenantry-code"));
    root.replaceChildren(shell.element);
    watchSession(workspace);
    await workspace.load();
    await workspace.restore();
  } catch (error) {
    if (!root.querySelector(".shell")) root.replaceChildren(noAuthor(error));
    if (error.status === undefined) throw error;
  }
}

open();
