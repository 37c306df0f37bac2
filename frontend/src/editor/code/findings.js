// What the server's checker has found: underlined, in the gutter, with fixes to click. Ctrl-. (Cmd-.) applies the fix at
// the cursor, F8 goes to the next finding, Ctrl-Shift-M (Cmd-Shift-M) lists them all.

import { forEachDiagnostic, lintGutter, lintKeymap, linter, setDiagnostics } from "@codemirror/lint";
import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";

const SEVERITIES = new Set(["error", "warning", "info", "hint"]);

/**
 * @typedef {{ from: number, to: number, insert: string }} Edit
 * @typedef {{ from: number, to: number, severity: string, code?: string, message: string, fix?: string, edit?: Edit }} Finding
 */

/** @returns {import("@codemirror/state").Extension} */
export const findings = () => [
  linter(null),
  lintGutter(),
  keymap.of(lintKeymap),
  Prec.high(keymap.of([{ key: "Mod-.", run: fixAtCursor }])),
];

/**
 * @param {import("@codemirror/view").EditorView} view
 * @param {readonly Finding[]} found with offsets in the text that the view shows
 */
export function showFindings(view, found) {
  const { length } = view.state.doc;
  const diagnostics = found.map((finding) => {
    const from = Math.min(Math.max(0, finding.from), length);
    const { edit, code, fix } = finding;
    return {
      from,
      to: Math.min(Math.max(from, finding.to), length),
      severity: SEVERITIES.has(finding.severity) ? finding.severity : "warning",
      message: [finding.message, fix].filter(Boolean).join("\n"),
      source: code,
      actions: edit ? [{ name: "Fix", apply: (_, start, end) => applyFix(view, finding, start, end) }] : [],
    };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** What was typed since moves the edit as far as the finding. */
function applyFix(view, { from, to, edit }, start, end) {
  const grown = end - start - (to - from);
  const moved = start - from;
  const changes = { from: edit.from + moved, to: edit.to + moved + (edit.to >= to ? grown : 0), insert: edit.insert };
  view.dispatch({ changes, userEvent: "input.fix", scrollIntoView: true });
  view.focus();
}

function fixAtCursor(view) {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  let nearest = null;
  forEachDiagnostic(view.state, (diagnostic, from, to) => {
    if (!diagnostic.actions?.length || to < line.from || from > line.to) return;
    const distance = head < from ? from - head : Math.max(0, head - to);
    if (!nearest || distance < nearest.distance) nearest = { distance, diagnostic, from, to };
  });
  nearest?.diagnostic.actions[0].apply(view, nearest.from, nearest.to);
  return nearest !== null;
}
