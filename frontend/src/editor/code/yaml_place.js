// Finds where the end of a YAML text is in the document: the keys that lead there, and whether a key or a value is being written.

import { yamlToken } from "./yaml_lexer.js";

/**
 * @typedef {{ column: number, list: boolean, flow: boolean, key: string | null, keys: string[] }} Level an open mapping or list; a list in
 *   block style counts as half a column deeper than its dashes
 */

/**
 * @param {string} text the text before the cursor
 * @param {string} after the text after the cursor
 * @returns {{ steps: { key: string | null, keys: string[] }[], isKey: boolean, keys: string[], typed: string, begun: boolean } | null}
 *   steps: a key, or null for an entry of a list, each with the keys of the mapping below it; keys: the keys of the mapping in which a key
 *   is written; begun: whether a value has just begun. Null within quotes and comments.
 */
export function placeAt(text, after = "") {
  /** @type {Level[]} */
  const levels = [];
  const state = {};
  const lines = text.split("\n");
  const last = lines.pop();
  for (const line of lines) readLine(levels, line, state, () => {});
  const typed = /[\w-]*$/.exec(last)[0].replace(/^-+$/, "");
  let before = "";
  let kind = null;
  readLine(levels, last.slice(0, last.length - typed.length), state, (written, its) => ([before, kind] = [written, its]));
  if (kind === "comment" || (kind === "string" && /^["']/.test(before)) || state.block !== undefined) return null;
  const top = levels.at(-1);
  const isFlow = top?.flow ?? false;
  const column = last.length - typed.length;
  const isKey = isFlow ? !top.list && before !== ":" : before !== ":";
  if (!isFlow && isKey) {
    if (before && before !== "-") return null; // a word within an unquoted text
    const begins = before === "-" ? column : last.search(/\S|$/);
    close(levels, begins);
    if (levels.at(-1)?.column !== begins && levels.length && !levels.at(-1).list && levels.at(-1).key === null) return null;
  }
  const inside = levels.at(-1);
  const own = isKey && inside && !inside.list && (isFlow || inside.column === column);
  const steps = levels.map(({ list, key }, index) => ({ key: list ? null : key, keys: levels[index + 1]?.keys ?? [] }));
  const keys = isKey ? [...(own ? inside.keys : []), ...keysAfter(after, isFlow ? null : column)] : [];
  if (own) steps.pop();
  if (isKey && steps.length) steps[steps.length - 1].keys = keys;
  return { steps, isKey: isKey || (inside?.list ?? false), keys, typed, begun: /[:{,[-] ?$/.test(last.slice(0, column)) };
}

/** @returns {string[]} the keys after the cursor in the mapping that contains it; column: null for a mapping in brackets */
function keysAfter(text, column) {
  /** @type {string[]} */
  const keys = [];
  const [rest, ...lines] = text.split("\n");
  if (column === null) {
    let depth = 0;
    readLine([], rest, {}, (written, kind) => {
      if (kind === "paren") depth += "[{".includes(written) ? 1 : -1;
      else if (kind === "property" && depth === 0) keys.push(written);
    });
    return keys;
  }
  for (const line of lines) {
    const begins = line.search(/\S/);
    if (begins >= 0 && (begins < column || line[begins] === "-")) break;
    if (begins === column) readLine([], line, {}, (written, kind) => kind === "property" && keys.push(written));
  }
  return keys;
}

function close(levels, column) {
  while (levels.length && levels.at(-1).column > column) levels.pop();
}

function readLine(levels, string, state, seen) {
  const stream = { string, pos: 0 };
  while (stream.pos < string.length) {
    const from = stream.pos;
    const kind = yamlToken(stream, state);
    const written = string.slice(from, stream.pos);
    if (written.trim() && kind !== "comment") read(levels, kind, written, from);
    if (written.trim()) seen(written, kind);
  }
}

function read(levels, kind, written, column) {
  const top = levels.at(-1);
  const flow = top?.flow ?? false;
  if (kind === "paren") {
    if ("[{".includes(written)) levels.push({ column: Infinity, list: written === "[", flow: true, key: null, keys: [] });
    else if (flow) levels.pop();
  } else if (kind === "property") {
    const key = written.replace(/^(["'])(.*)\1$/, "$2");
    if (!flow) close(levels, column);
    const level = levels.at(-1);
    if (level && !level.list && (flow || level.column === column)) [level.key, level.keys] = [key, [...level.keys, key]];
    else levels.push({ column, list: false, flow: false, key, keys: [key] });
  } else if (flow && written === "," && !top.list) top.key = null;
  else if (!flow && written === "-" && kind === "punctuation") {
    close(levels, column + 0.5);
    if (levels.at(-1)?.column !== column + 0.5) levels.push({ column: column + 0.5, list: true, flow: false, key: null, keys: [] });
  }
}
