// Which colour a series has: the one of its name, in all charts of a page, whatever the order is in which rows come.
// The dashboard's file says it, or the place among the choices of a control; else a hash of the name. Where two names of
// a column have the same hash, the first by the alphabet has the colour, and the other one the next that is free. So a
// new name may change its colour while other answers are under way; once all have come it keeps it, and the page
// remembers it: after a filter, a reload or a visit of another dashboard it is the same.

import { distance, NEAR } from "../contrast.js";

/** This one is grey: it is for what is left, and for a name when the ones before it are taken. */
export const LAST = 8;
const COLOURS = 8;
const HUES = 7;
const PLACES = [1, 2, 3, 4, 5, 6, 7, 8];
/** For names when all places are taken, or look like a colour of the file. */
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
  /** @type {Map<string, Set<string>>} the names of each column */
  #columns = new Map();
  /** @type {Map<string, number>} */
  #places = new Map();
  #fixed = this.#places;

  /**
   * @param {any} about the definition of the dashboard
   * @param {Record<string, string>[]} modes the page's colours, light and dark
   * @param {() => void} changed called when names that were asked for before have another colour
   * @param {Record<string, Record<string, number>>} [before] by column, the places of the names that were shown before,
   *   to which `settle` adds; by the hashes of the names, for a browser may store it, and names are data
   */
  constructor(about, modes, changed, before = {}) {
    this.own = ownColors(about);
    this.colors = about.colors ?? {};
    this.changed = changed;
    this.before = before;
    this.free = this.#freeOf(givenColors(about), modes);
    const inOrder = (names) => names.forEach((name, place) => this.#fixed.has(name) || this.#fixed.set(name, this.free[place % this.free.length]));
    for (const { choices } of about.controls) if (choices?.length <= COLOURS) inOrder(choices.map(({ value }) => keyOf(value)));
    const several = about.rows.flat().map(({ view }) => (view.color ? [] : [view[view.kind]].flat())).filter((measures) => measures.length > 1);
    inOrder([...new Set(several.flat())].map(measureKey));
  }

  /** The places that look like no colour of the file, nor like good or bad where it uses such words, nor like another place. */
  #freeOf(given, modes) {
    const words = given.some((color) => MEANING.includes(color)) ? ["good", "bad"] : [];
    const taken = [...given.map((color) => this.#classOf(color)), ...words];
    const near = (place, others, least) => modes.some((tokens) => others.some((other) => distance(tokens[`data-${place}`], tokens[other || "accent"] ?? tokens[`data-${other}`]) < least));
    const found = [];
    for (const place of [...PLACES, ...SPARE.map((color) => this.#classOf(color))]) if (!near(place, taken, NEAR) && !near(place, found, place > COLOURS ? NEAR : SAME)) found.push(place);
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
    const keys = names.map(column === MEASURES ? measureKey : keyOf);
    const given = names.map((name) => this.given(name, own));
    this.learn(column, keys.filter((_, place) => given[place] === undefined));
    const used = new Set([...taken, ...given]);
    const order = keys.map((_, place) => place).filter((place) => given[place] === undefined);
    for (const place of order.sort((a, b) => (keys[a] < keys[b] ? -1 : 1))) {
      const usual = this.#places.get(keys[place]);
      given[place] = used.has(usual) ? (this.#next(keys[place], [...used]) ?? usual) : usual;
      used.add(given[place]);
    }
    return given;
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

  /** These are names of a column, whether or not a chart draws them. */
  learn(column, names) {
    if (!this.#columns.has(column)) this.#columns.set(column, new Set());
    const known = this.#columns.get(column);
    const before = known.size;
    for (const name of names) known.add(name);
    if (known.size > before) this.#place();
  }

  /** The choices of a control that a query gives are names of the column that is called so. */
  fill(control, choices) {
    if (choices.length <= COLOURS) this.learn(control, choices.map(({ value }) => keyOf(value)));
  }

  #place() {
    const earlier = this.#places;
    this.#places = new Map(this.#fixed);
    const columns = [...this.#columns].map(([column, names]) => ({ names, before: this.before[memoryOf(column)] ?? {} }));
    const all = [...new Set(columns.flatMap(({ names }) => [...names]))].sort().filter((name) => !this.#places.has(name));
    for (const name of all) {
      const place = columns.map(({ names, before }) => names.has(name) && before[hash(name)]).find((each) => this.free.includes(each));
      if (place) this.#places.set(name, place);
    }
    for (const name of all.filter((each) => !this.#places.has(each))) {
      const own = columns.filter(({ names }) => names.has(name));
      const shown = own.flatMap(({ names }) => [...names].map((each) => this.#places.get(each)));
      const known = own.flatMap(({ before }) => Object.values(before));
      this.#places.set(name, this.#next(name, [...shown, ...known]) ?? this.#next(name, shown) ?? this.#next(name, []));
    }
    if ([...earlier].some(([name, place]) => this.#places.get(name) !== place)) this.changed();
  }

  /** The first place from that of the hash on which is not taken. */
  #next(name, taken) {
    const start = hash(name) % HUES;
    const order = [...PLACES.slice(start, HUES), ...PLACES.slice(0, start), ...this.free.filter((place) => place > HUES)];
    return order.find((place) => this.free.includes(place) && !taken.includes(place));
  }

  /**
   * All answers have come: no name that is known changes its colour any more.
   * @returns {boolean} whether `before` has changed
   */
  settle() {
    if (this.#fixed === this.#places) return false;
    this.#fixed = this.#places;
    for (const [column, names] of this.#columns) for (const name of names) (this.before[memoryOf(column)] ??= {})[hash(name)] = this.#places.get(name);
    return true;
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
