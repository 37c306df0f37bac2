// What completion offers at the cursor: variables and filters in tags, tables and columns in SQL. It uses earlier responses of the server,
// so that typing never waits.

import { autocompletion, pickedCompletion } from "@codemirror/autocomplete";

import { load } from "../../dashboards/chunks.js";
import { columnEntries, filters } from "./knowledge.js";
import { entry } from "./entries.js";
import { ARGUMENTS, CODE, HEADER, TAG } from "./lexer.js";
import { offered } from "./matching.js";
import { same, scopeAt } from "./scope.js";
import { around, statementAt } from "./statement.js";

const WORD = /^[\w$\u0080-\uffff]*$/;
const PATH = /^[\w$.\u0080-\uffff]*$/;
const FRAGMENT = /^[\w/-]*$/;
const BEFORE_TABLE = /\b(?:from|join)\s$/i;
const LONGEST_REST = 200;

/**
 * @param {() => import("./knowledge.js").Knowledge} knowledge
 * @param {import("./lexer.js").SqlLexer} lexer
 * @returns {import("@codemirror/state").Extension}
 */
export const sqlCompletion = (knowledge, lexer) => completionFrom((context) => complete(context, knowledge(), lexer));

/** @returns {import("@codemirror/state").Extension} */
export const completionFrom = (source) => autocompletion({ override: [source], maxRenderedOptions: 100 });

function complete(context, known, lexer) {
  const { state, pos, explicit } = context;
  const at = around(state.doc, pos, lexer);
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  if (at.kind === TAG) return completeTag(at, known);
  if (at.kind === HEADER) return load("editor_yaml.js").then(({ completeHeader }) => completeHeader(context));
  if (at.kind !== CODE && at.kind !== ARGUMENTS) return null;
  if (/^\d/.test(at.typed) || (!at.typed && !explicit && !BEFORE_TABLE.test(before))) return null;
  return completeSql(at, known.catalogue, lexer, pos);
}

function completeTag(at, known) {
  if (at.next === "filter") return offered(at.from, [filters.map(withApply(called))], at.typed, WORD);
  if (at.next === "fragment") return offered(at.from, [known.fragments.map(withApply(tagContent))], at.typed, FRAGMENT);
  if (at.next !== "path") return null;
  const fragments = known.fragments.map((each) => ({ ...each, label: `> ${each.label}` }));
  return offered(at.from, [known.variables, fragments].map((list) => list.map(withApply(tagContent))), at.typed, PATH);
}

const withApply = (made) => (option) => ({ ...option, apply: made(option.apply) });

/** Inserts the content of a tag, and moves the cursor after the closing }}, which may already be there. */
const tagContent = (text) => (view, option, from, to) => {
  const rest = view.state.sliceDoc(to, Math.min(to + LONGEST_REST, view.state.doc.lineAt(to).to));
  const hasFilters = /^\s*\|/.test(rest);
  const end = hasFilters ? 0 : (/^\s*\}\}/.exec(rest)?.[0].length ?? 0);
  const space = /[\s>]/.test(view.state.sliceDoc(from - 1, from)) ? "" : " ";
  picked(view, option, from, to + end, `${space}${text}${hasFilters ? "" : " }}"}`);
};

/** Inserts a call, and moves the cursor between its parentheses. */
const called = (text) => (view, option, from, to) => {
  const open = text.endsWith("()") && view.state.sliceDoc(to, to + 1) === "(";
  picked(view, option, from, to, open ? text.slice(0, -2) : text, text.endsWith("()") && !open ? 1 : 0);
};

function picked(view, option, from, to, insert, back = 0) {
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length - back },
    annotations: pickedCompletion.of(option),
    userEvent: "input.complete",
  });
}

function completeSql(at, known, lexer, pos) {
  const scope = scopeAt(statementAt(at.text, pos - at.offset, lexer), at.from - at.offset);
  const dot = at.typed.lastIndexOf(".");
  if (dot >= 0) {
    const outer = at.typed.slice(0, dot).replace(/["`[\]]/g, "");
    const lists = [scope.wantsTable ? [] : columnsOf(outer, scope, known), tablesOf(outer, known)];
    return offered(at.from + dot + 1, lists, at.typed.slice(dot + 1), WORD);
  }
  const ctes = scope.ctes.map(({ name }) => entry(name, "open", "of this query", "", known.quote(name)));
  if (scope.wantsTable) return offered(at.from, [ctes, known.tables, known.schemas], at.typed, WORD);
  const columns = distinct(scope.sources, known);
  const aliases = scope.sources.map(({ name, table }) => entry(name, "open", same(table, name) ? "" : table, "", known.quote(name)));
  const functions = known.functions.map(withApply(called));
  return offered(at.from, [columns, aliases, known.keywords, functions, columns.length ? [] : known.tables], at.typed, WORD);
}

/** A column name that several tables have is offered once for each table, with the table's name. */
function distinct(sources, known) {
  const found = sources.flatMap((source) => columnsIn(source, known).map((column) => ({ column, of: source.name })));
  const times = new Map();
  for (const { column } of found) times.set(column.key, (times.get(column.key) ?? 0) + 1);
  return found.map(({ column, of }) => {
    if (times.get(column.key) === 1) return column;
    return { ...column, label: `${of}.${column.label}`, apply: `${known.quote(of)}.${column.apply}` };
  });
}

function columnsOf(name, { sources, ctes }, known) {
  const source = [...sources, ...ctes].find((each) => same(each.name, name) || same(each.table, name));
  const table = known.byName.get(name.toLowerCase());
  return source ? columnsIn(source, known) : table ? known.columnsOf(table) : [];
}

function columnsIn({ name, columns, table }, known) {
  const all = (written) => {
    const described = known.byName.get(written.toLowerCase());
    return described ? known.columnsOf(described) : [];
  };
  if (!columns) return all(table);
  return columns.flatMap((column) => (column.startsWith("*") ? all(column.slice(1)) : columnEntries([column], name, known.quote)));
}

function tablesOf(schema, known) {
  const before = `${schema.toLowerCase()}.`;
  const within = known.tables.filter(({ key }) => key.startsWith(before));
  return within.map((table) => {
    const name = table.label.slice(before.length);
    return { ...table, label: name, key: name.toLowerCase(), apply: name.split(".").map(known.quote).join(".") };
  });
}
