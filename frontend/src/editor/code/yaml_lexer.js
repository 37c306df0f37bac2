// Splits a line of YAML into tokens, in the file of a dashboard or in the header of a query file. Tags within strings are marked.

const SPACE = /\s+/y;
const COMMENT = /#.*/y;
const KEY = /(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]{}#&*!|>'"%@`?:-][^,[\]{}#]*?|[-?:][^\s,[\]{}#:][^,[\]{}#]*?)(?=\s*:(?:\s|$))/y;
const SIGN = /[-?:](?=\s|$)|[[\]{},]|[|>][-+\d]*(?=\s|$)/y;
const QUOTED = /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y;
const TAG = /\{\{[^}]*\}\}/y;
const ATOM = /(?:true|false|null|~)(?=\s*(?:[,\]}#]|$))/y;
const NUMBER = /[-+]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=\s*(?:[,\]}#]|$))/y;
const ANCHOR = /[&*!][^\s,[\]{}]+/y;
const PLAIN_IN_FLOW = /[^\s,[\]{}#][^,[\]{}#]*/y;
const PLAIN = /[^\s#](?:(?!\s#)(?!:\s).)*/y;

/**
 * @param {{ string: string, pos: number }} stream
 * @param {{ flow?: number, block?: number }} state flow: number of open brackets; block: the indentation above which lines belong to a
 *   block text
 * @returns {string | null}
 */
export function yamlToken(stream, state) {
  const indentation = stream.string.search(/\S/);
  if (state.block !== undefined) {
    if (indentation < 0 || indentation > state.block) return (stream.pos = stream.string.length), "string";
    state.block = undefined;
  }
  if (taken(SPACE, stream)) return null;
  if (taken(COMMENT, stream)) return "comment";
  if (taken(KEY, stream)) return "property";
  const start = stream.pos;
  if (taken(SIGN, stream)) {
    const sign = stream.string[start];
    if (sign === "[" || sign === "{") state.flow = (state.flow ?? 0) + 1;
    if (sign === "]" || sign === "}") state.flow = Math.max(0, (state.flow ?? 0) - 1);
    if ((sign === "|" || sign === ">") && !state.flow) state.block = indentation;
    return "[]{}".includes(sign) ? "paren" : "punctuation";
  }
  if (taken(TAG, stream)) return "path";
  if (taken(QUOTED, stream)) return "string";
  if (taken(ANCHOR, stream)) return "keyword";
  if (taken(ATOM, stream)) return "atom";
  if (taken(NUMBER, stream)) return "number";
  if (taken(state.flow ? PLAIN_IN_FLOW : PLAIN, stream)) return "string";
  stream.pos += 1;
  return null;
}

function taken(pattern, stream) {
  pattern.lastIndex = stream.pos;
  if (!pattern.test(stream.string)) return false;
  stream.pos = pattern.lastIndex;
  return true;
}
