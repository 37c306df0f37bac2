// Shows what a tag or a guarded table becomes when the query is bound, when the mouse is on it, or by Ctrl-I (Cmd-I) at the cursor.

import { RangeSet, RangeValue, StateEffect, StateField } from "@codemirror/state";
import { hoverTooltip, keymap } from "@codemirror/view";

import { pin } from "./pinned.js";

class Meaning extends RangeValue {
  constructor(about) {
    super();
    this.about = about;
  }
}

/** @type {import("@codemirror/state").StateEffectType<any>} */
const set = StateEffect.define();

const known = StateField.define({
  create: () => RangeSet.empty,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(set)) return effect.value;
    return transaction.docChanged ? value.map(transaction.changes) : value;
  },
});

/** @returns {import("@codemirror/state").Extension} */
export const meanings = () => [
  known,
  hoverTooltip((view, position) => tooltipAt(view.state, position)),
  keymap.of([{ key: "Mod-i", run: showAtCursor, preventDefault: true }]),
];

/**
 * @param {import("@codemirror/view").EditorView} view
 * @param {{ placeholders?: any[], tables?: any[] } | null} meaning the server's response for the text that the view shows
 */
export function showMeaning(view, meaning) {
  const { length } = view.state.doc;
  const all = [...(meaning?.placeholders ?? []), ...(meaning?.tables ?? [])].filter(({ from, to }) => 0 <= from && from < to && to <= length);
  view.dispatch({ effects: set.of(RangeSet.of(all.map((about) => new Meaning(about).range(about.from, about.to)), true)) });
}

function showAtCursor(view) {
  const tooltip = tooltipAt(view.state, view.state.selection.main.head);
  return pin(view, tooltip); // true even without a tooltip, because CodeMirror would otherwise select something
}

function tooltipAt(state, position) {
  /** @type {any} */
  let found = null;
  state.field(known).between(position, position, (from, to, { about }) => {
    if (!found || to - from <= found.to - found.from) found = { from, to, about };
  });
  if (!found) return null;
  return { pos: found.from, end: found.to, above: true, create: () => ({ dom: described(found.about) }) };
}

function described(about) {
  const dom = document.createElement("div");
  dom.className = "meaning";
  dom.setAttribute("role", "status");
  if (about.sql !== undefined) {
    dom.append(line("p", `${about.name} is a guarded table. This query reads in its place:`), line("code", about.sql));
    return dom;
  }
  const value = about.value === undefined ? "" : ` = ${JSON.stringify(about.value)}`;
  dom.append(line("code", `${about.placeholder}${value}`));
  const facts = [about.type, about.path, about.origin].filter(Boolean).join(" \u00b7 ");
  if (facts) dom.append(line("p", facts, "quiet"));
  return dom;
}

function line(name, text, className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}
