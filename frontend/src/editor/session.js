// Who the author is: the one-time link of the address, and what is shown when a session has ended.

import { ask, connection, MOUNT } from "./client.js";
import { field, showDialog } from "./dialogs.js";
import { html } from "../dashboards/dom.js";

const CODE = /#code=([^&\s]+)/;

/** Exchanges the code of the page's address for a session, and takes it out of the address. Throws Refused. */
export async function enter() {
  const [, code] = CODE.exec(location.hash) ?? [];
  if (!code) return;
  history.replaceState(null, "", location.pathname + location.search);
  await ask("session", { code: decodeURIComponent(code) });
}

/** What stands in the page's place without an author. */
export function noAuthor(error) {
  return html(
    "main",
    { class: "notice", role: "alert" },
    html("h1", {}, error.status === 401 || error.status === 410 ? "Please open the editor with a link" : "The editor could not be opened"),
    html("p", {}, error.message),
    error.status !== 0 && html("p", {}, "This command prints a new link, which works once:"),
    error.status !== 0 && html("pre", { tabindex: "0" }, command()),
  );
}

/**
 * Shows a dialog when the session ends. The page and all texts stay.
 * @param {(state: any) => void} back called with the answer of `state`, in a new session
 */
export function watchSession(back) {
  let dialog = null;
  connection.addEventListener("lost", () => {
    if (dialog) return;
    const link = html("input", { autocomplete: "off", spellcheck: "false" });
    const enterAgain = async () => {
      const [, code] = CODE.exec(link.value) ?? [];
      if (code) await ask("session", { code: decodeURIComponent(code) });
      back(await ask("state", {}));
    };
    dialog = showDialog(
      "Your session has ended",
      [
        html("p", {}, "Your text is kept in this browser. Sign in to your product again, or get a new link with this command:"),
        html("pre", { tabindex: "0" }, command()),
        field("New link", link, "Leave it empty if you have signed in, or opened the link in another tab."),
      ],
      [{ label: "Continue", run: enterAgain }],
      { stays: true },
    );
    dialog.addEventListener("close", () => (dialog = null));
  });
}

function command() {
  return `tenantry editor link --author NAME --url ${location.origin}${MOUNT}`;
}
