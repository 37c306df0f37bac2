// Which colour a series has: the one of its name, in all charts of a page, whatever the order is in which rows come.
// The dashboard's file says it, or the place among the choices of a control; else a hash of the name. Where names of a
// column have the same place by their hashes, the least hash has it, and the others the next places that are free. So the
// names that are known decide, and never which of them came first: who has seen the same names sees the same colours. A
// page remembers the names of a column, so that a filter, a reload or a visit of another dashboard changes no colour.

import { distance, NEAR } from "../contrast.js";

/** This one is grey: it is for what is left, and for a name of a chart that uses all others. */
export const LAST = 8;
const COLOURS = 8;
const PLACES = [1, 2, 3, 4, 5, 6, 7];
const HUES = PLACES.length;
/** For names when all hues are taken, or look like a colour of the file. */
const SPARE = ["#0084b4", "#7a4a2b", "#e2008a", "#1f2f66"];
/** Of one palette: colours nearer than this are one. */
const SAME = 30;
const MEASURES = "";
const CLASSES = { accent: 0, good: "good", warn: "warn", bad: "bad", quiet: "quiet" };
const MEANING = ["good", "warn", "bad"];

/** All colours that a dashboard's file gives to names, each once. */
function givenColors(about) {
  const maps = [about.colors, ...about.rows.flat().map(({ view }) => view.colors)];
  return [...new Set(maps.flatMap((map) => Object.values(map ?? {})))];
}

/** Those that it writes as #rrggbb, and further ones for names: the places after the palette's. */
export function ownColors(about) {
  return [...new Set([...givenColors(about).filter((color) => String(color).startsWith("#")), ...SPARE])];
}

export class SeriesColors {
  /** @type {Map<string, Set<number>>} the hashes of the names of each column */
  #columns = new Map();
  /** @type {Map<number, number>} */
  #places = new Map();
  #declared = this.#places;

  /**
   * @param {any} about the definition of the dashboard
   * @param {Record<string, string>[]} modes the page's colours, light and dark
   * @param {() => void} changed called when names that were asked for before have another colour
   * @param {Record<string, Record<string, number>>} [before] by column, the names that were shown before, to which
   *   `settle` adds: as their hashes, for a browser may store it, and names are data
   */
  constructor(about, modes, changed, before = {}) {
    this.own = ownColors(about);
    this.colors = about.colors ?? {};
    this.changed = changed;
    this.before = before;
    this.free = this.#freeOf(givenColors(about), modes);
    const inOrder = (names) => names.map(hash).forEach((name, place) => this.#declared.has(name) || this.#declared.set(name, this.free[place % this.free.length]));
    for (const { choices } of about.controls) if (choices?.length <= this.free.length) inOrder(choices.map(({ value }) => keyOf(value)));
    const several = about.rows.flat().map(({ view }) => (view.color ? [] : [view[view.kind]].flat())).filter((measures) => measures.length > 1);
    inOrder([...new Set(several.flat())].map(measureKey));
    for (const [column, names] of Object.entries(before)) this.#columns.set(column, new Set(Object.keys(names).map(Number)));
    this.#place();
  }

  /** The places that look like no colour of the file, nor like good or bad where it uses such words, nor like another place. */
  #freeOf(given, modes) {
    const words = given.some((color) => MEANING.includes(color)) ? ["good", "bad"] : [];
    const taken = [...given.map((color) => this.#classOf(color)), ...words];
    const near = (place, others, least) => modes.some((tokens) => others.some((other) => distance(tokens[`data-${place}`], tokens[other || "accent"] ?? tokens[`data-${other}`]) < least));
    const found = [];
    const order = [...PLACES, ...SPARE.map((color) => this.#classOf(color))];
    for (const place of order) if (!near(place, taken, NEAR) && !near(place, found, place > COLOURS ? NEAR : SAME)) found.push(place);
    return found.length ? found : PLACES;
  }

  /**
   * The colours of the series that a chart draws together: numbers of the palette, or words, which are CSS classes.
   * @param {string} column of the names; "" for measures
   * @param {any[]} names
   * @param {Record<string, number | string>} [own] the panel's colours, which count for more than the dashboard's
   * @param {number[]} [taken] numbers that the chart uses for something else
   * @returns {(number | string)[]}
   */
  of(column, names, own = {}, taken = []) {
    const keys = names.map(column === MEASURES ? measureKey : keyOf).map(hash);
    const found = names.map((name) => this.given(name, own));
    const undeclared = [...keys.keys()].filter((at) => found[at] === undefined).sort((a, b) => keys[a] - keys[b]);
    this.#learn(column, undeclared.map((at) => keys[at]));
    const used = new Set([...taken, ...found]);
    const give = (at, place) => used.add((found[at] = place));
    for (const at of undeclared) if (!used.has(this.#places.get(keys[at]))) give(at, this.#places.get(keys[at]));
    for (const at of undeclared) if (found[at] === undefined) give(at, this.#next(keys[at], used) ?? (used.has(LAST) ? this.#places.get(keys[at]) : LAST));
    return found;
  }

  /** What the file says of a name; undefined where it says nothing. */
  given(name, own = {}) {
    const key = keyOf(name);
    const color = Object.hasOwn(own, key) ? own[key] : Object.hasOwn(this.colors, key) ? this.colors[key] : undefined;
    return this.#classOf(color);
  }

  #classOf(color) {
    return this.own.includes(color) ? COLOURS + 1 + this.own.indexOf(color) : (CLASSES[color] ?? color);
  }

  #learn(column, names) {
    const known = this.#columns.get(memoryOf(column)) ?? new Set();
    this.#columns.set(memoryOf(column), known);
    const before = known.size;
    for (const name of names) known.add(name);
    if (known.size > before) this.#place();
  }

  /** The choices of a control that a query gives are names of the column that is called so. */
  fill(control, choices) {
    if (choices.length <= this.free.length) this.#learn(control, choices.map(({ value }) => hash(keyOf(value))));
  }

  #place() {
    const earlier = this.#places;
    const found = new Map(this.#declared);
    const columns = [...this.#columns.values()];
    const all = [...new Set(columns.flatMap((names) => [...names]))].sort((a, b) => a - b);
    const taken = (name) => new Set(columns.flatMap((names) => (names.has(name) ? [...names].map((each) => found.get(each)) : [])));
    const unplaced = all.filter((name) => !found.has(name));
    for (const name of unplaced) if (!taken(name).has(this.#next(name))) found.set(name, this.#next(name));
    for (const name of unplaced) if (!found.has(name)) found.set(name, this.#next(name, taken(name)) ?? this.#next(name));
    this.#places = found;
    if ([...earlier].some(([name, place]) => found.get(name) !== place)) this.changed();
  }

  /** The first place from that of the hash on which is not taken. */
  #next(name, taken = new Set()) {
    const start = name % HUES;
    const order = [...PLACES.slice(start), ...PLACES.slice(0, start), ...this.free.filter((place) => place > HUES)];
    return order.find((place) => this.free.includes(place) && !taken.has(place));
  }

  /**
   * All answers have come: their names are remembered.
   * @returns {boolean} whether `before` has changed
   */
  settle() {
    let changed = false;
    for (const [column, names] of this.#columns) {
      const known = (this.before[column] ??= {});
      for (const name of names) {
        changed ||= !(name in known);
        known[name] = 1;
      }
    }
    return changed;
  }
}

/** A value as a key: NULL is another one than a text. */
export function keyOf(value) {
  return value === null || value === undefined ? "\u0001" : String(value);
}

/** A key that no object has by itself. */
function memoryOf(column) {
  return `.${column}`;
}

function measureKey(name) {
  return `\n${name}`;
}

/** FNV-1a, and its bits mixed once more. */
function hash(name) {
  let found = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) found = Math.imul(found ^ name.charCodeAt(at), 0x01000193);
  found = Math.imul(found ^ (found >>> 15), 0x2c1b3c6d);
  return (found ^ (found >>> 13)) >>> 0;
}
