// Splits a line of a query file into tokens. It finds our tags wherever the server does: also within strings, but not within comments and
// quoted names. The state remembers what is still open at the end of a line.

import { yamlToken } from "./yaml_lexer.js";

export const CODE = "code";
export const STRING = "string";
export const NAME = "name";
export const COMMENT = "comment";
const DOLLAR = "dollar";
export const TAG = "tag";
export const ARGUMENTS = "arguments";
export const HEADER = "header";

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const ASCII_WORD = /[A-Za-z_][\w$]*/y;
const NUMBER = /\d[\w.]*/y;
const SPACE = /\s+/y;
const OPERATOR = /[-+*/%<>=!~^&|@?:#$\\;,.]/y;
const HEADER_START = /\/\*[ \t]*---[ \t]*$/y;
const HEADER_END = /[ \t]*---[ \t]*\*\//y;
const TAG_PATH = /[^\W\d_][\w\u0080-\uffff]*(?:\.[^\W\d_][\w\u0080-\uffff]*)*/uy;
const FRAGMENT = /[^\s}]+/y;
const ARGUMENT_KEY = /(?:-?\w+)(?=\s*:(?![:=]))/y;
const CLOSING = { "\u2018": "\u2019", "\u201c": "\u201d" };

/**
 * @typedef {object} Context what a token is in; it never changes, so that several states can share it
 * @property {string} kind
 * @property {Context | null} below
 * @property {string} [quote] the quote of a STRING, or the closing quote of a NAME
 * @property {boolean} [backslash] whether a backslash escapes the next character
 * @property {boolean} [doubled] whether two quotes mean a single one
 * @property {string} [open] the brackets that are open: c for [[, b for [, p for ( and {
 * @property {number} [depth] the depth of nested comments
 * @property {string} [delimiter] the delimiter of a dollar-quoted string
 * @property {string} [next] what a TAG expects: a path, a fragment, a filter, or its end
 */

/** @typedef {{ top: Context, begun: boolean, yaml: any }} State begun: whether anything except white space was read */

const BASE = { kind: CODE, below: null, open: "" };

/** @returns {State} */
export const startState = () => ({ top: BASE, begun: false, yaml: null });

/** @returns {State} */
export const copyState = (state) => ({ top: state.top, begun: state.begun, yaml: state.yaml && { ...state.yaml } });

export class SqlLexer {
  /**
   * @param {typeof import("./rules.js").RULES.mysql} rules
   * @param {Map<string, string>} words kinds of words
   */
  constructor(rules, words) {
    this.rules = rules;
    this.words = words;
    this.word = rules.asciiWords ? ASCII_WORD : WORD;
    this.line = new RegExp(rules.line, "y");
    this.dollar = rules.dollar ? new RegExp(rules.dollar, "y") : null;
    const prefix = rules.prefixes ? `(?:${rules.prefixes})?` : "";
    const double = rules.doubleTakesPrefix ? prefix : rules.prefixes.includes("&") ? "(?:[uU]&)?" : "";
    const triple = rules.tripleQuotes ? `|${prefix}'''|${double}"""` : "";
    this.quoted = new RegExp(`(?:${triple.slice(1)}${triple && "|"}${prefix}'|${double}")`, "y");
    this.bodies = new Map();
  }

  /**
   * Reads a token and moves the stream to its end.
   * @param {{ string: string, pos: number }} stream a line, and the position up to which it was read
   * @param {State} state
   * @returns {string | null} the kind of the token
   */
  token(stream, state) {
    switch (state.top.kind) {
      case STRING:
        return this.#string(stream, state);
      case NAME:
        return this.#name(stream, state);
      case COMMENT:
        return this.#comment(stream, state);
      case DOLLAR:
        return this.#dollar(stream, state);
      case TAG:
        return this.#tag(stream, state);
      case HEADER:
        return this.#header(stream, state);
      default:
        return this.#code(stream, state);
    }
  }

  #code(stream, state) {
    const { string, pos } = stream;
    if (taken(SPACE, stream)) return null;
    const begins = !state.begun;
    state.begun = true;
    const { rules } = this;
    switch (string[pos]) {
      case "{":
        if (string[pos + 1] === "{") return push(stream, state, 2, { kind: TAG, next: "path" }, "tagMark");
        if (string[pos + 1] === "%") return moved(stream, 2, "invalid");
        return opened(stream, state, 1, "p");
      case "\\":
        if (/^(?:\{[{%]|\[\[)/.test(string.slice(pos + 1, pos + 3))) return moved(stream, 3, "escape");
        break;
      case "[":
        if (string[pos + 1] === "[") return opened(stream, state, 2, "c");
        if (!rules.bracketNames) return opened(stream, state, 1, "b");
        return push(stream, state, 1, { kind: NAME, quote: "]", doubled: rules.bracketDoubled, backslash: false }, "name");
      case "]":
        if (string[pos + 1] === "]" && state.top.open.endsWith("c")) return closed(stream, state, 2, "c");
        return closed(stream, state, 1, "b");
      case "(":
        return opened(stream, state, 1, "p");
      case ")":
        if (state.top.kind === ARGUMENTS && !state.top.open.includes("p")) return pop(stream, state, 1, "paren");
        return closed(stream, state, 1, "p");
      case "}":
        return closed(stream, state, 1, "p");
      case "/":
        if (string[pos + 1] !== "*") break;
        HEADER_START.lastIndex = pos;
        if (begins && HEADER_START.test(string)) {
          return push(stream, state, string.length - pos, { kind: HEADER }, "comment");
        }
        return push(stream, state, 2, { kind: COMMENT, depth: 1 }, "comment");
      case "`":
        if (!rules.backticks) break;
        return push(stream, state, 1, { kind: NAME, quote: "`", doubled: true, backslash: rules.nameBackslash }, "name");
      case "\u2018":
      case "\u201c":
        if (!rules.typographic) break;
        return push(stream, state, 1, { kind: NAME, quote: CLOSING[string[pos]], doubled: false, backslash: false }, "name");
      case "$":
        if (this.dollar && taken(this.dollar, stream)) {
          return push(stream, state, 0, { kind: DOLLAR, delimiter: string.slice(pos, stream.pos) }, "string");
        }
    }
    if (taken(this.quoted, stream)) return this.#opening(stream, state, string.slice(pos, stream.pos));
    if (taken(this.line, stream)) return moved(stream, string.length - stream.pos, "comment");
    if (state.top.kind === ARGUMENTS && !state.top.open && /[(,]/.test(lastSign(string, pos)) && taken(ARGUMENT_KEY, stream)) return "argument";
    if (taken(this.word, stream)) return this.#word(string, pos, stream.pos);
    if (taken(NUMBER, stream)) return "number";
    return taken(OPERATOR, stream) ? (/[,;.]/.test(string[pos]) ? "punctuation" : "operator") : moved(stream, 1, null);
  }

  #word(string, from, to) {
    const after = string[to] === "(";
    if (string[from - 1] === ".") return after ? "function" : "column";
    const kind = this.words.get(string.slice(from, to).toLowerCase());
    return kind ?? (after ? "function" : "word");
  }

  #opening(stream, state, opening) {
    const { rules } = this;
    const quote = opening.replace(/^[^'"]*/, "");
    const prefix = opening[0] === quote[0] ? "" : opening[0];
    if (quote[0] === '"' && !rules.doubleIsString) {
      return push(stream, state, 0, { kind: NAME, quote: '"', doubled: true, backslash: rules.nameBackslash }, "name");
    }
    const plain = prefix !== "" && rules.plainPrefixes.includes(prefix);
    const backslash = (rules.backslash && !plain) || (prefix !== "" && rules.escapePrefixes.includes(prefix));
    const doubled = !plain && quote.length === 1 && !rules.tripleQuotes;
    return push(stream, state, 0, { kind: STRING, quote, backslash, doubled }, "string");
  }

  #string(stream, state) {
    const { quote, backslash, doubled } = state.top;
    if (taken(this.#body(quote, backslash, doubled), stream)) return "string";
    const { string, pos } = stream;
    if (string.startsWith("{{", pos)) return push(stream, state, 2, { kind: TAG, next: "path" }, "tagMark");
    if (string.startsWith(quote, pos)) return pop(stream, state, quote.length, "string");
    let end = pos; // backslashes before {{: two mean a single one, and a single one makes the {{ literal
    while (string[end] === "\\") end += 1;
    const odd = (end - pos) % 2;
    return moved(stream, end - pos + (odd && string.startsWith("{{", end) ? 2 : 0) || 1, "escape");
  }

  #body(quote, backslash, doubled) {
    const key = `${quote}${backslash}${doubled}`;
    if (!this.bodies.has(key)) {
      const [character] = quote;
      const inside = [`[^${character}{\\\\]`, "\\{(?!\\{)", backslash ? "\\\\(?!\\{\\{)(?:.|$)" : "\\\\+(?![\\\\]|\\{\\{)"];
      if (quote.length > 1) inside.push(`${character}(?!${character}${character})`);
      else if (doubled) inside.push(character + character);
      this.bodies.set(key, new RegExp(`(?:${inside.join("|")})+`, "y"));
    }
    return this.bodies.get(key);
  }

  #name(stream, state) {
    const { quote, backslash, doubled } = state.top;
    const { string } = stream;
    for (let at = stream.pos; at < string.length; at += 1) {
      if (backslash && string[at] === "\\") at += 1;
      else if (string[at] === quote) {
        if (doubled && string[at + 1] === quote) at += 1;
        else return pop(stream, state, at + 1 - stream.pos, "name");
      }
    }
    return moved(stream, string.length - stream.pos, "name");
  }

  #comment(stream, state) {
    const { string } = stream;
    let { depth } = state.top;
    for (let at = stream.pos; at < string.length - 1; at += 1) {
      if (string[at] === "*" && string[at + 1] === "/") {
        depth -= 1;
        at += 1;
        if (!depth) return pop(stream, state, at + 1 - stream.pos, "comment");
      } else if (this.rules.nested && string[at] === "/" && string[at + 1] === "*") {
        depth += 1;
        at += 1;
      }
    }
    state.top = { ...state.top, depth };
    return moved(stream, string.length - stream.pos, "comment");
  }

  #dollar(stream, state) {
    const found = stream.string.indexOf(state.top.delimiter, stream.pos);
    if (found < 0) return moved(stream, stream.string.length - stream.pos, "string");
    return pop(stream, state, found + state.top.delimiter.length - stream.pos, "string");
  }

  #tag(stream, state) {
    if (taken(SPACE, stream)) return null;
    const { string, pos } = stream;
    const { next } = state.top;
    if (string.startsWith("}}", pos)) return pop(stream, state, 2, "tagMark");
    const expect = (what) => (state.top = { ...state.top, next: what });
    if (next === "path" && string[pos] === ">") return expect("fragment"), moved(stream, 1, "tagMark");
    if (next === "fragment" && taken(FRAGMENT, stream)) return expect("end"), "fragment";
    if (next === "path" && taken(TAG_PATH, stream)) return expect("bar"), "path";
    if ((next === "bar" || next === "arguments") && string[pos] === "|") return expect("filter"), moved(stream, 1, "tagMark");
    if (next === "filter" && taken(TAG_PATH, stream)) return expect("arguments"), "filter";
    if (next === "arguments" && string[pos] === "(") {
      expect("bar");
      return push(stream, state, 1, { kind: ARGUMENTS, open: "" }, "paren");
    }
    state.top = state.top.below; // a tag that is not closed ends where anything else begins
    return this.token(stream, state);
  }

  #header(stream, state) {
    if (stream.pos === 0 && taken(HEADER_END, stream)) return (state.yaml = null), pop(stream, state, 0, "comment");
    state.yaml ??= {};
    return yamlToken(stream, state.yaml);
  }
}

/** @yields {{ kind: string, from: number, to: number, before: Context, state: State }} the tokens of a text */
export function* tokens(lexer, text, state = startState(), until = text.length) {
  for (let from = 0; from <= until; ) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    const stream = { string: text.slice(from, Math.min(to, until)), pos: 0 };
    while (stream.pos < stream.string.length) {
      const { pos } = stream;
      const before = state.top;
      const kind = lexer.token(stream, state);
      yield { kind, from: from + pos, to: from + stream.pos, before, state };
    }
    from = to + 1;
  }
}

/** @returns {string} the last character before a place that is not white space; a bracket at the beginning of a line */
function lastSign(string, before) {
  let at = before - 1;
  while (at >= 0 && /\s/.test(string[at])) at -= 1;
  return string[at] ?? "(";
}

function taken(pattern, stream) {
  pattern.lastIndex = stream.pos;
  if (!pattern.test(stream.string)) return false;
  stream.pos = pattern.lastIndex;
  return true;
}

function moved(stream, length, kind) {
  stream.pos += length;
  return kind;
}

function push(stream, state, length, context, kind) {
  state.top = { ...context, below: state.top };
  return moved(stream, length, kind);
}

function pop(stream, state, length, kind) {
  state.top = state.top.below;
  return moved(stream, length, kind);
}

function opened(stream, state, length, bracket) {
  state.top = { ...state.top, open: state.top.open + bracket };
  return moved(stream, length, bracket === "c" ? "clause" : "paren");
}

function closed(stream, state, length, bracket) {
  const at = state.top.open.lastIndexOf(bracket);
  if (at >= 0) state.top = { ...state.top, open: state.top.open.slice(0, at) };
  return moved(stream, length, bracket === "c" ? "clause" : "paren");
}
