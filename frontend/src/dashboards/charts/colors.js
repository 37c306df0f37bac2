// Which colour a series has: the one of its name, in all charts of a page, whatever the order is in which rows come.
// The dashboard's file says it, or the place among the choices of a control; else a hash of the name. Where two names of
// a column have the same hash, the first by the alphabet has the colour, and the other one the next that is free. So a
// new name may change its colour while other answers are under way; once all have come it keeps it.

import { distance, NEAR } from "../contrast.js";

/** The last one is grey: it is for what is left, and for a name when all others are taken. */
export const LAST = 8;
const COLOURS = 8;
const PLACES = [1, 2, 3, 4, 5, 6, 7, 8];
const MEASURES = "";
const CLASSES = { accent: 0, good: "good", warn: "warn", bad: "bad", quiet: "quiet" };

/** All colours that a dashboard's file gives to names, each once. */
function givenColors(about) {
  const maps = [about.colors, ...about.rows.flat().map(({ view }) => view.colors)];
  return [...new Set(maps.flatMap((map) => Object.values(map ?? {})))];
}

/** Those that it writes as #rrggbb. */
export function ownColors(about) {
  return givenColors(about).filter((color) => String(color).startsWith("#"));
}

export class SeriesColors {
  /** @type {Map<string, Set<string>>} the names of each column */
  #columns = new Map();
  /** @type {Map<string, number>} */
  #places = new Map();
  #fixed = new Map();

  /**
   * @param {any} about the definition of the dashboard
   * @param {Record<string, string>} tokens the page's colours
   * @param {() => void} changed called when names that were asked for before have another colour
   */
  constructor(about, tokens, changed) {
    this.own = ownColors(about);
    this.colors = about.colors ?? {};
    this.changed = changed;
    const given = givenColors(about).map((color) => this.#classOf(color)).map((found) => tokens[found || "accent"] ?? tokens[`data-${found}`]);
    /** What is hard to tell from a colour that the file gives. */
    this.reserved = PLACES.filter((place) => given.some((color) => distance(tokens[`data-${place}`], color) < NEAR));
    const free = PLACES.filter((place) => !this.reserved.includes(place));
    const inOrder = (names) => names.forEach((name, place) => this.#fixed.has(name) || this.#fixed.set(name, free[place % free.length] ?? LAST));
    for (const { choices } of about.controls) if (choices?.length <= COLOURS) inOrder(choices.map(({ value }) => keyOf(value)));
    const several = about.rows.flat().map(({ view }) => (view.color ? [] : [view[view.kind]].flat())).filter((measures) => measures.length > 1);
    inOrder([...new Set(several.flat())].map(measureKey));
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
      given[place] = used.has(usual) ? (freeOf(keys[place], [...used, ...this.reserved]) ?? freeOf(keys[place], [...used]) ?? usual) : usual;
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
    const before = this.#places;
    this.#places = new Map(this.#fixed);
    const columns = [...this.#columns.values()];
    for (const name of [...new Set(columns.flatMap((names) => [...names]))].sort()) {
      if (this.#places.has(name)) continue;
      const taken = columns.filter((names) => names.has(name)).flatMap((names) => [...names].map((each) => this.#places.get(each)));
      this.#places.set(name, freeOf(name, [...taken, ...this.reserved]) ?? 1 + hash(name));
    }
    if ([...before].some(([name, place]) => this.#places.get(name) !== place)) this.changed();
  }

  /** All answers have come: no name that is known changes its colour any more. */
  settle() {
    this.#fixed = this.#places;
  }
}

/** A value as a key: NULL is another one than a text. */
export function keyOf(value) {
  return value === null || value === undefined ? "\u0001" : String(value);
}

function measureKey(name) {
  return `\n${name}`;
}

/** The first place from that of the hash on which is not taken. */
function freeOf(name, taken) {
  const start = hash(name);
  const hues = PLACES.filter((place) => place !== LAST);
  return [...hues.slice(start), ...hues.slice(0, start), LAST].find((place) => !taken.includes(place));
}

/** FNV-1a, and its bits mixed once more; 0 to 6. */
function hash(name) {
  let found = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) found = Math.imul(found ^ name.charCodeAt(at), 0x01000193);
  found = Math.imul(found ^ (found >>> 15), 0x2c1b3c6d);
  return ((found ^ (found >>> 13)) >>> 0) % (COLOURS - 1);
}
