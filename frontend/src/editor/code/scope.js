// The tables, aliases and common table expressions that a name can mean at a place in a statement.

const SETS = new Set(["union", "intersect", "except", "minus"]);
const FROM_ENDS = new Set(
  "where group having order limit offset fetch window qualify prewhere settings format select for returning on".split(" "),
);
const NAMES = new Set(["word", "name", "column", "function", "typeName"]);

/**
 * @typedef {import("./statement.js").Item} Item
 * @typedef {{ name: string, columns: string[] | null, table: string }} Source columns: null if only the catalogue knows them; a column that
 *   begins with * stands for all columns of the table after it
 */

/**
 * @param {Item[]} items of the statement
 * @param {number} position
 * @returns {{ sources: Source[], ctes: Source[], wantsTable: boolean }} the nearest sources first. ``wantsTable``:
 * whether the name of a table is expected.
 */
export function scopeAt(items, position) {
  const found = { sources: [], ctes: [], wantsTable: false };
  for (let level = items; level; ) {
    const part = partAt(level, position);
    found.wantsTable = false;
    if (level === items || is(level[0], ["select", "with", "from"])) {
      found.ctes.unshift(...withNames(level, found.ctes));
      found.sources.unshift(...sourcesOf(part, found.ctes));
      found.wantsTable = beginsTable(part, fromParts(part), part.filter(({ to }) => to <= position).length);
    }
    level = part.find((item) => item.items && item.from < position && position < item.to)?.items;
  }
  return found;
}

export const same = (one, other) => one.toLowerCase() === other.toLowerCase();

const is = (item, words) => item?.kind === "keyword" && words.includes(item.word);
const isName = (item) => item !== undefined && NAMES.has(item.kind);
const isSet = (item) => item.kind === "keyword" && SETS.has(item.word);

/** The part of a union at the position, because each select of a union has its own sources. */
function partAt(items, position) {
  let begin = 0;
  for (let index = 0; index < items.length; index += 1) {
    if (!isSet(items[index])) continue;
    if (items[index].from >= position) return items.slice(begin, index);
    begin = index + 1;
  }
  return items.slice(begin);
}

/** @returns {boolean[]} for each item, whether it is after a `from`, where a table follows each comma */
function fromParts(items) {
  let inside = false;
  return items.map((item) => {
    const before = inside;
    if (is(item, ["from", "join"])) inside = true;
    else if (item.kind === "keyword" && FROM_ENDS.has(item.word)) inside = false;
    return before;
  });
}

function beginsTable(items, inFrom, index) {
  const before = items[index - 1];
  if (is(before, ["from"])) return !is(items[index - 2], ["distinct"]);
  return is(before, ["join", "lateral", "only"]) || (before?.text === "," && inFrom[index - 1]);
}

function withNames(items, outer) {
  /** @type {Source[]} */
  const ctes = [];
  if (!is(items[0], ["with"])) return ctes;
  for (let index = 1; index < items.length && !is(items[index], ["select"]); index += 1) {
    if (!isName(items[index])) continue;
    const list = is(items[index + 2], ["as"]) ? items[index + 1].items : undefined;
    let at = index + (list ? 2 : 1);
    if (!is(items[at], ["as"])) continue;
    while (items[at] && !items[at].items) at += 1;
    const columns = list ? named(list) : outputsOf(items[at]?.items ?? [], [...ctes, ...outer]);
    ctes.push({ name: items[index].text, columns, table: "" });
    index = at;
  }
  return ctes;
}

const named = (items) => items.filter(isName).map(({ text }) => text);

/** @returns {Source[]} the tables after `from` and `join`, with the names that the query gives them */
function sourcesOf(items, ctes) {
  const inFrom = fromParts(items);
  /** @type {Source[]} */
  const sources = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (!beginsTable(items, inFrom, index) || item.kind === "keyword") continue;
    let columns = item.items ? outputsOf(item.items, ctes) : null;
    let at = index;
    const path = isName(item) ? [item.text] : [];
    while (path.length && items[at + 1]?.text === "." && items[at + 2]) {
      at += 2;
      path.push(items[at].text);
    }
    if (path.length && items[at + 1]?.items) at += 1; // the arguments of a function
    if (is(items[at + 1], ["as"])) at += 1;
    const alias = isName(items[at + 1]) ? items[at + 1].text : "";
    if (alias && items[at + 2]?.items) columns = named(items[at + 2].items);
    const cte = path.length === 1 ? ctes.find(({ name }) => same(name, path[0])) : undefined;
    const name = alias || path.at(-1);
    if (name) sources.push({ name, columns: columns ?? cte?.columns ?? null, table: cte ? "" : path.join(".") });
    index = at;
  }
  return sources;
}

/** @returns {string[]} the names of a query's columns */
function outputsOf(items, outer) {
  const ctes = [...withNames(items, outer), ...outer];
  const select = items.findIndex((item) => is(item, ["select"]));
  if (select < 0) return [];
  const part = partAt(items.slice(select), items[select].from);
  const from = part.findIndex((item) => is(item, ["from"]));
  const sources = from < 0 ? [] : sourcesOf(part.slice(from), ctes);
  const outputs = [];
  let expression = [];
  const end = { kind: "", text: ",", word: ",", from: 0, to: 0 };
  for (const item of [...part.slice(1, from < 0 ? part.length : from), end]) {
    if (item.text !== ",") {
      expression.push(item);
      continue;
    }
    const last = expression.at(-1);
    if (last?.text === "*") {
      const of = expression.at(-2)?.text === "." ? expression.at(-3)?.text : undefined;
      for (const each of sources) if (!of || same(each.name, of)) outputs.push(...(each.columns ?? (each.table ? [`*${each.table}`] : [])));
    } else if (isName(last) || (last && is(expression.at(-2), ["as"]))) outputs.push(last.text);
    expression = [];
  }
  return outputs;
}
