// Dialogs: a question with fields, or a text to copy.

import { freshId, html, icon } from "../dashboards/dom.js";

/**
 * Shows a dialog until one of its actions succeeds.
 * @param {string} title
 * @param {(Node | string)[]} content empty strings are ignored
 * @param {{label: string, run?: () => any, quiet?: boolean}[]} actions an action without `run` only closes the dialog; one that throws
 *   keeps the dialog open and shows the message; if it returns a function, that function is called after the dialog has closed
 * @param {{wide?: boolean, stays?: boolean}} [options] `stays`: only an action closes the dialog
 * @returns {HTMLDialogElement} which emits "close"
 */
export function showDialog(title, content, actions, { wide, stays } = {}) {
  const id = freshId("dialog");
  const problem = html("p", { class: "problem", role: "alert" });
  const perform = async (event) => {
    event.preventDefault();
    const action = actions[event.submitter?.value ?? 0];
    try {
      problem.textContent = "";
      const then = await action.run?.();
      dialog.close();
      if (typeof then === "function") then();
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  const buttons = actions.map(({ label, quiet }, place) => html("button", { class: quiet ? "quiet-button" : "button", value: place }, label));
  const close = html("button", { type: "button", class: "icon-button", "aria-label": "Close", click: () => dialog.close() }, icon("close"));
  const dialog = html(
    "dialog",
    { class: wide ? "dialog wide-dialog" : "dialog", "aria-labelledby": id, close: () => dialog.remove(), cancel: (event) => stays && event.preventDefault() },
    html("div", { class: "dialog-head" }, html("h2", { id }, title), !stays && close),
    html("form", { class: "dialog-form", submit: perform }, ...content, problem, html("div", { class: "dialog-actions" }, ...buttons)),
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("[autofocus]")?.focus();
  return dialog;
}

/** A field with its label; `input` is the element that holds the value. */
export function field(label, input, hint) {
  input.id ||= freshId("field");
  return html("div", { class: "control" }, html("label", { for: input.id }, label), input, hint && html("p", { class: "count" }, hint));
}

/** Asks for the path of a new or renamed file. If the author types only a name, the file gets the folder and suffix of `value`. */
export function askPath(title, label, value, run, warning = "") {
  const input = html("input", { value, autocomplete: "off", spellcheck: "false", required: true, autofocus: true });
  showDialog(title, [field("Path", input, "Such as queries/by_month.sql, or dashboards/sales.yaml"), warning && html("p", { class: "warning" }, warning)], [{ label, run: () => run(whole(input.value.trim())) }]);
  const from = value.lastIndexOf("/") + 1;
  const whole = (typed) => (typed.includes("/") ? "" : value.slice(0, from)) + typed + (/\.[^/]*$/.test(typed) ? "" : value.slice(value.lastIndexOf(".")));
  input.setSelectionRange(from, value.includes(".") ? value.lastIndexOf(".") : value.length);
}

/** Shows a text that the author can read and copy. */
export function showCopy(title, text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
  };
  showDialog(title, [html("pre", { class: "copied", tabindex: "0" }, text)], [{ label: "Copy", run: copy }, { label: "Close", quiet: true }]);
}
