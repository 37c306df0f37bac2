// Reads the statement around the cursor without a parser. Finds what the cursor is in, and the tokens of the statement as a tree of
// parentheses.

import { ARGUMENTS, CODE, COMMENT, NAME, STRING, startState, tokens } from "./lexer.js";

/** Maximum characters before and after the cursor that are read. Of a longer statement, only a part is read. */
const WINDOW = 32_768;
/** Maximum depth of parentheses. The content of deeper ones counts as content of the deepest. */
const DEEPEST = 100;
const SKIPPED = new Set([null, "comment", "clause"]);
const FRAGMENT = /\{\{\s*>\s*([\w/-]*)$/;
const PATH = /((?:(?:[\w$\u0080-\uffff]+|"[^"]+"|`[^`]+`|\[[^\]]+\])\.)*[\w$\u0080-\uffff]*)$/;
const LONGEST_PATH = 256;

/**
 * @typedef {object} Item a token, or with ``items`` the content of parentheses
 * @property {string} kind
 * @property {string} text the text; without the quotes if it is a quoted name
 * @property {string} word the text in lower case; empty for a quoted name
 * @property {number} from
 * @property {number} to
 * @property {Item[]} [items]
 */

/**
 * @returns {{ kind: string, next?: string, typed: string, from: number, text: string, offset: number }} `kind`, `next`: what the cursor is
 *   in; `typed`, `from`: the word before the cursor, and where it begins; `text`, `offset`: the text around the cursor, and where it begins
 */
export function around(doc, position, lexer) {
  const line = doc.lineAt(position);
  const before = line.text.slice(Math.max(0, position - line.from - LONGEST_PATH), position - line.from);
  const [, typed] = FRAGMENT.exec(before) ?? PATH.exec(before);
  const from = position - typed.length;
  const begin = Math.max(0, from - WINDOW);
  const offset = doc.length <= 2 * WINDOW ? 0 : Math.max(doc.lineAt(begin).from, begin - WINDOW);
  const text = doc.sliceString(offset, Math.min(doc.length, position + WINDOW));
  const state = startState();
  let comment = false; // whether the cursor is in a comment of one line, which is not in the state
  for (const token of tokens(lexer, text, state, from - offset)) {
    comment = token.kind === "comment" && token.to === from - offset && !text.startsWith("/*", token.from) && state.top === token.before;
  }
  return { kind: comment ? COMMENT : state.top.kind, next: state.top.next, typed, from, text, offset };
}

/** @returns {Item[]} the statement at a position of the text */
export function statementAt(text, position, lexer) {
  const top = { items: /** @type {Item[]} */ ([]) };
  const open = [top];
  let deeper = 0;
  /** @type {Item | null} */
  let quoted = null; // whose tokens become one item
  for (const { kind, from, to, before } of tokens(lexer, text)) {
    if (quoted && (before.kind === NAME || before.kind === STRING)) {
      quoted.to = to;
      if (quoted.kind === "name") quoted.text = text.slice(quoted.from + 1, to - 1);
      continue;
    }
    quoted = null;
    if (SKIPPED.has(kind) || (before.kind !== CODE && before.kind !== ARGUMENTS)) continue;
    const written = text.slice(from, to);
    const { items } = open[open.length - 1];
    if (written === "(" && open.length > DEEPEST) deeper += 1;
    else if (written === "(") {
      const group = { kind: "group", text: "", word: "", from, to: Infinity, items: [] };
      items.push(group);
      open.push(group);
    } else if (written === ")") {
      const endsTag = before.kind === ARGUMENTS && !before.open.includes("p");
      if (deeper && !endsTag) deeper -= 1;
      else if (open.length > 1 && !endsTag) open.pop().to = to;
    } else if (written === ";" && open.length === 1) {
      if (from >= position) break;
      top.items = [];
    } else {
      const item = { kind, text: written, word: kind === "name" ? "" : written.toLowerCase(), from, to };
      items.push(item);
      if (kind === "name" || kind === "string") quoted = item;
    }
  }
  return top.items;
}
