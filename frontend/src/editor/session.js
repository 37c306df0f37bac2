// Finds out who the author is by the one-time link in the address. Shows a dialog when the session has ended.

import { ask, connection, MOUNT } from "./client.js";
import { field, showDialog } from "./dialogs.js";
import { hasKept } from "./keeper.js";
import { html } from "../dashboards/dom.js";

/** The fields in the fragment of a link. */
const fieldsOf = (link) => new URLSearchParams(link.slice(link.indexOf("#") + 1));

/**
 * Exchanges the code in the page's address for a session, and removes the code from the address. Throws Refused.
 * @returns {Promise<{state: any, first: {environment?: string, group?: string}}>} `first`: the group that the link names
 */
export async function enter() {
  addEventListener("hashchange", () => fieldsOf(location.hash).has("code") && location.reload()); // the author opens a new link in the same tab
  const fields = fieldsOf(location.hash);
  const code = location.hash && fields.get("code");
  let refused = null;
  let before = null;
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    if (hasKept()) before = await ask("state", {}).catch(() => null);
    await ask("session", { code }).catch((error) => (refused = error));
  }
  const state = await ask("state", {}).catch((error) => Promise.reject(refused ?? error)); // a session of this browser may still be valid
  if (before && before.author !== state.author) {
    showDialog(`You are ${state.author} now`, [html("p", {}, `The link that you opened is for ${state.author}. It has replaced the session of ${before.author} in this browser. If you did not expect that, log out.`)], [{ label: "Continue" }]);
  }
  return { state, first: { environment: fields.get("environment") ?? undefined, group: fields.get("group") ?? undefined } };
}

/** The state of the page's history after the author has logged out. */
const LEFT = "left";

/**
 * Ends the session and loads the page again, without an author. Throws Refused.
 * @param {import("./workspace.js").Workspace} workspace
 */
export async function leave(workspace) {
  await workspace.leave();
  history.replaceState(LEFT, "");
  location.reload();
}

/** The page for an author without a session. */
export function noAuthor(error) {
  const left = history.state === LEFT;
  if (left) history.replaceState(null, "");
  const [title, ...more] = !error.status
    ? ["The editor could not be opened"]
    : document.querySelector('meta[name="tenantry-links"]')
      ? ["Please open the editor with a link", html("p", {}, "This command prints a link, which works once. Add --right and --environment to limit what its author may do."), ...command("NAME")]
      : ["Please sign in", html("p", {}, "Sign in again, then reload this page. If you are signed in, ask for access to the editor.")];
  const why = left ? "You have logged out. This browser keeps the texts that you have not saved." : error.message;
  return html("main", { class: "notice" }, html("h1", {}, title), html("p", { role: "alert" }, why), ...more);
}

/**
 * Shows a dialog when the session ends. The page and all texts stay.
 * @param {{state: any}} workspace which gets the state of the new session
 */
export function watchSession(workspace) {
  let dialog = null;
  connection.addEventListener("lost", () => {
    if (dialog) return;
    const { author, has_session: byLink } = workspace.state;
    const link = html("input", { autocomplete: "off", spellcheck: "false", autofocus: true });
    const enterAgain = async () => {
      const code = link.value && fieldsOf(link.value).get("code");
      if (code) await ask("session", { code });
      const state = await ask("state", {});
      if (state.author !== author) throw new Error(`You are ${state.author} now, and this page has texts of ${author}. Get a link for ${author}, or load the page again.`);
      workspace.state = state;
      workspace.emit("choice");
    };
    const content = byLink
      ? [html("p", {}, "Your text is kept in this browser. This command prints a new link:"), ...command(author, workspace.state), field("New link", link, "Leave it empty if you have opened the link in another tab.")]
      : [html("p", {}, "Your text is kept in this browser. Sign in again in another tab, then continue here.")];
    dialog = showDialog("Your session has ended", content, [{ label: "Continue", run: enterAgain }], { stays: true });
    dialog.addEventListener("close", () => (dialog = null));
  });
}

/** The command that prints a link with the same rights as `state`, if given, and a note with what the reader must fill in. */
function command(author, state) {
  const named = state ? [...state.rights.map((each) => ["right", each]), ...(state.environments.length ? state.environments : ["NAME"]).map((each) => ["environment", each])] : [];
  const options = [["author", author], ["url", location.origin + MOUNT], ...named].map(([name, value]) => ` --${name} ${quoted(value)}`);
  return [html("pre", { tabindex: "0" }, `tenantry editor link${options.join("")}`), html("p", {}, "Add the options that your other commands need, such as --database.")];
}

/** A word of a command in a shell. */
function quoted(word) {
  return /^[\w.@:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
