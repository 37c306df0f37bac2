// Shows what the server's checker has found: underlined in the text, and in the gutter, where a click shows the finding with its fix.
// Ctrl-. (Cmd-.) applies the fix at the cursor. F8 goes to the next finding, Shift-F8 to the previous one.

import { forEachDiagnostic, linter, nextDiagnostic, previousDiagnostic, setDiagnostics, setDiagnosticsEffect } from "@codemirror/lint";
import { Prec, RangeSet, StateField } from "@codemirror/state";
import { GutterMarker, gutter, keymap } from "@codemirror/view";

import { pin } from "./pinned.js";

const SEVERITIES = ["hint", "info", "warning", "error"];

/**
 * @typedef {{ from: number, to: number, insert: string }} Edit
 * @typedef {{ from: number, to: number, severity: string, code?: string, message: string, fix?: string, edit?: Edit | null }} Finding
 */

/** @returns {import("@codemirror/state").Extension} */
export const findings = () => [
  linter(null), // shows a finding at the mouse pointer
  marked,
  gutter({
    class: "findings",
    markers: (view) => view.state.field(marked),
    domEventHandlers: { click: (view, line) => showLine(view, view.state.doc.lineAt(line.from)) },
  }),
  Prec.high(
    keymap.of([
      { key: "Mod-.", run: fixAtCursor },
      { key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
    ]),
  ),
];

// CodeMirror's gutter closes its tooltip as soon as the mouse is on it: in a shadow root, it does not know which element the mouse is on.
class Mark extends GutterMarker {
  constructor(severity, title) {
    super();
    Object.assign(this, { severity, title });
  }

  eq(other) {
    return other.severity === this.severity && other.title === this.title;
  }

  toDOM() {
    const dom = document.createElement("div");
    dom.className = `finding finding-${this.severity}`;
    dom.title = this.title;
    return dom;
  }
}

const marked = StateField.define({
  create: () => RangeSet.empty,
  update(value, transaction) {
    const changed = transaction.effects.some((effect) => effect.is(setDiagnosticsEffect)) || (transaction.docChanged && value.size > 0);
    return changed ? marksOf(transaction.state) : value;
  },
});

function marksOf(state) {
  const lines = new Map();
  forEachDiagnostic(state, (diagnostic, from) => {
    const start = state.doc.lineAt(from).from;
    lines.set(start, [...(lines.get(start) ?? []), diagnostic]);
  });
  const marks = [...lines].map(([start, all]) => {
    const worst = Math.max(...all.map(({ severity }) => SEVERITIES.indexOf(severity)));
    return new Mark(SEVERITIES[worst], all.map(({ message }) => message).join("\n\n")).range(start);
  });
  return RangeSet.of(marks, true);
}

/**
 * @param {import("@codemirror/view").EditorView} view
 * @param {readonly Finding[]} found with offsets in the text that the view shows
 */
export function showFindings(view, found) {
  const { length } = view.state.doc;
  const diagnostics = found.map((finding) => {
    const from = Math.min(Math.max(0, finding.from), length);
    const { edit, code, fix, severity } = finding;
    return {
      from,
      to: Math.min(Math.max(from, finding.to), length),
      severity: SEVERITIES.includes(severity) ? severity : "warning",
      message: [finding.message, fix].filter(Boolean).join("\n"),
      source: code,
      actions: edit ? [{ name: "Fix", apply: (_, start, end) => applyFix(view, finding, start, end) }] : [],
    };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Applies the fix. If text was typed since the check, the place of the edit moves with the finding. */
function applyFix(view, { from, to, edit }, start, end) {
  const grown = end - start - (to - from);
  const moved = start - from;
  const changes = { from: edit.from + moved, to: edit.to + moved + (edit.to >= to ? grown : 0), insert: edit.insert };
  view.dispatch({ changes, userEvent: "input.fix", scrollIntoView: true });
  view.focus();
}

function onLine(state, line) {
  const found = [];
  forEachDiagnostic(state, (diagnostic, from, to) => {
    if (to >= line.from && from <= line.to) found.push({ diagnostic, from, to });
  });
  return found;
}

function showLine(view, line) {
  const found = onLine(view.state, line).filter(({ from }) => from >= line.from);
  if (!found.length) return false;
  const dom = document.createElement("div");
  dom.append(...found.map((each) => described(view, each)));
  pin(view, { pos: line.from, above: false, create: () => ({ dom }) });
  return true;
}

function described(view, { diagnostic, from, to }) {
  const dom = document.createElement("div");
  dom.className = `cm-diagnostic cm-diagnostic-${diagnostic.severity}`;
  dom.append(diagnostic.message);
  for (const { name, apply } of diagnostic.actions ?? []) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "cm-diagnosticAction", textContent: name, onclick: () => apply(view, from, to) });
    dom.append(button);
  }
  return dom;
}

function fixAtCursor(view) {
  const { head } = view.state.selection.main;
  const distance = ({ from, to }) => Math.max(from - head, head - to, 0);
  const fixable = onLine(view.state, view.state.doc.lineAt(head)).filter(({ diagnostic }) => diagnostic.actions?.length);
  const [nearest] = fixable.sort((one, other) => distance(one) - distance(other));
  nearest?.diagnostic.actions[0].apply(view, nearest.from, nearest.to);
  return nearest !== undefined;
}
