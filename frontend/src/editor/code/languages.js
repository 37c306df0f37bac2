// The languages of the editor as CodeMirror's stream languages: SQL in a dialect, with our tags, and YAML.

import { StreamLanguage, foldService, indentUnit } from "@codemirror/language";
import { Tag, tags } from "@lezer/highlight";

import { SqlLexer, copyState, startState } from "./lexer.js";
import { rulesOf } from "./rules.js";
import { wordsOf } from "./words.js";
import { yamlToken } from "./yaml_lexer.js";

export const TAG_MARK = Tag.define();
export const TAG_PATH = Tag.define();
export const CLAUSE = Tag.define();

const TABLE = {
  tagMark: TAG_MARK,
  path: TAG_PATH,
  fragment: TAG_PATH,
  filter: TAG_PATH,
  argument: tags.labelName,
  clause: CLAUSE,
  word: tags.name,
  column: tags.name,
  function: tags.function(tags.variableName),
  property: tags.propertyName,
  name: tags.special(tags.string),
};
const LONGEST_FOLD = 2_000; // lines

/** @type {Map<string, StreamLanguage<any>>} */
const made = new Map();

/** @returns {SqlLexer} */
export const lexerOf = (dialect) => new SqlLexer(rulesOf(dialect), wordsOf(dialect));

/** @returns {import("@codemirror/state").Extension} */
export function sql(dialect) {
  const lexer = lexerOf(dialect);
  return language(`sql-${dialect}`, {
    startState,
    copyState,
    token: (stream, state) => lexer.token(stream, state),
    indent: bracketIndent,
    tokenTable: TABLE,
    languageData: {
      commentTokens: { line: "--", block: { open: "/*", close: "*/" } },
      closeBrackets: { brackets: ["(", "[", "{", "'", '"'] },
    },
  });
}

/** @returns {import("@codemirror/state").Extension} */
export function yaml() {
  return language("yaml", {
    startState: () => ({}),
    copyState: (state) => ({ ...state }),
    token: yamlToken,
    tokenTable: TABLE,
    languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'] } },
  });
}

function language(name, spec) {
  if (!made.has(name)) made.set(name, StreamLanguage.define({ name, ...spec }));
  return [made.get(name), foldService.of(deeperLines), indentUnit.of("  ")];
}

/** A line has the indentation of the line before it. After an opening bracket, it is indented by one more unit. */
function bracketIndent(_state, after, context) {
  const line = context.state.doc.lineAt(context.pos);
  let before = line.number - 1;
  while (before && !/\S/.test(context.state.doc.line(before).text)) before -= 1;
  if (!before) return 0;
  const { text } = context.state.doc.line(before);
  const opens = /(?:\(|\[\[)\s*$/.test(text) ? context.unit : 0;
  const closes = /^(?:\)|\]\])/.test(after) ? context.unit : 0;
  return Math.max(0, context.countColumn(text, text.search(/\S/)) + opens - closes);
}

/** Finds the lines to fold: those that are indented more than this line, or a comment of several lines up to its end. */
function deeperLines(state, from, to) {
  const { doc } = state;
  const line = doc.lineAt(from);
  const depth = line.text.search(/\S/);
  if (depth < 0) return null;
  const comment = /^\s*\/\*(?!.*\*\/)/.test(line.text);
  let end = null;
  const last = Math.min(doc.lines, line.number + LONGEST_FOLD);
  for (let number = line.number + 1; number <= last; number += 1) {
    const next = doc.line(number);
    const its = next.text.search(/\S/);
    if (comment && next.text.includes("*/")) return { from: to, to: next.from + next.text.indexOf("*/") + 2 };
    if (!comment && its >= 0 && its <= depth) break;
    if (its >= 0) end = next.to;
  }
  return end === null || comment ? null : { from: to, to: end };
}
