// Which colour a series has: the one of its name, in all charts of a page, whatever the order is in which rows come.
// The dashboard's file says it, or the place among the choices of a control; else a hash of the name. Where names of a
// column want one place, the least hash has it, and the others the next places that are free: further hues, shades of
// all hues, then as many hues as there are names. So the names that are known decide, and never which of them came first:
// who has seen the same names sees the same colours. A page remembers the names of a column, so that a filter, a reload
// or a visit of another dashboard changes no colour.

import { distance, NEAR } from "../contrast.js";

/** This one is grey: it is for what is left. */
export const LAST = 8;
const COLOURS = 8;
/** Of more names in one answer only those that are drawn are remembered. */
const MOST = 100;
const PLACES = [1, 2, 3, 4, 5, 6, 7];
/** For names when all hues are taken, or look like a colour of the file. */
const SPARE = ["#0084b4", "#e2008a", "#1f2f66"];
/** Hues of a palette, and shades where no others are left, are one colour when nearer than this. */
const SAME = 60;
/** Degrees between the hues for names beyond all shades: none of them comes again. */
const TURN = 137.508;
const CLASSES = { accent: 0, good: "good", warn: "warn", bad: "bad", quiet: "quiet" };
const MEANING = ["good", "warn", "bad"];

export class SeriesColors {
  /** @type {Map<string, Set<number>>} the hashes of the names of each column */
  #columns = new Map();
  /** @type {Map<number, number>} */
  #places = new Map();
  #further = [];

  /**
   * @param {any} about the definition of the dashboard
   * @param {() => void} look draws the page by `own`, the colours after the palette's, and calls `see`
   * @param {() => void} changed called when names that were asked for before have another colour
   * @param {Record<string, Record<string, number>>} [before] by column, the names that were shown before, to which
   *   `settle` adds: as their hashes, for a browser may store it, and names are data
   */
  constructor(about, look, changed, before = {}) {
    Object.assign(this, { about, look, changed, before, colors: about.colors ?? {} });
    const views = about.rows.flat().map(({ view }) => view);
    this.file = [...new Set([this.colors, ...views.map(({ colors }) => colors)].flatMap((map) => Object.values(map ?? {})))];
    this.own = [...new Set([...this.file.filter((color) => String(color).startsWith("#")), ...SPARE])];
    this.hues = [...PLACES, ...SPARE.map((color) => this.#classOf(color))];
    this.order = [...this.hues];
    for (const toward of ["ink", "surface"]) for (const place of this.hues) this.order.push(COLOURS + this.own.push({ place, toward }));
    this.measures = views.map((view) => (view.color ? [] : [view[view.kind]].flat())).filter((names) => names.length > 1);
    for (const [column, names] of Object.entries(before)) this.#columns.set(column, new Set(Object.keys(names).map(Number)));
  }

  /** @param {Record<string, string>[]} modes the page's colours, light and dark */
  see(modes) {
    this.free = this.#freeOf(modes);
    this.first = this.free.filter((place) => this.hues.includes(place));
    /** @type {Map<number, number>} the places that the file's order gives to names */
    this.declared = new Map();
    const inOrder = (names) => names.map(hash).forEach((name, at) => this.declared.has(name) || this.declared.set(name, this.first[at % this.first.length]));
    for (const { choices } of this.about.controls) if (choices?.length <= this.first.length) inOrder(choices.map(({ value }) => keyOf(value)));
    inOrder([...new Set(this.measures.flat())].map(measureKey));
    this.#place();
  }

  /** The places that look like no colour of the file, nor like good or bad where it uses such words, nor like another place. */
  #freeOf(modes) {
    const words = this.file.some((color) => MEANING.includes(color)) ? ["good", "bad"] : [];
    const taken = [...this.file.map((color) => this.#classOf(color)), ...words];
    const near = (place, others, least) => modes.some((tokens) => others.some((other) => distance(tokens[`data-${place}`], tokens[other || "accent"] ?? tokens[`data-${other}`]) < least));
    const found = [];
    const add = (least, places) => places.forEach((place) => near(place, taken, NEAR) || near(place, [LAST, ...found], least) || found.push(place));
    add(SAME, PLACES);
    add(NEAR, this.order);
    add(SAME, this.order.slice(this.hues.length));
    return found;
  }

  /**
   * The colours of the series that a chart draws together: numbers of the palette, or words, which are CSS classes.
   * @param {string} column of the names; "" for measures
   * @param {any[]} names
   * @param {Record<string, number | string>} [own] the panel's colours, which count for more than the dashboard's
   * @param {any[]} [all] names of the answer, also those that are drawn as one: another answer may draw each of them
   * @returns {(number | string)[]}
   */
  of(column, names, own, all = names) {
    const key = (name) => hash((column ? keyOf : measureKey)(name));
    const known = all.length > MOST ? names : all;
    if (column) this.#learn(column, known.filter((name) => this.given(name, own) === undefined).map(key));
    return names.map((name) => this.given(name, own) ?? this.#places.get(key(name)));
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
    if (choices.length <= this.first.length) this.#learn(control, choices.map(({ value }) => hash(keyOf(value))));
  }

  #place() {
    const earlier = this.#places;
    const found = new Map();
    const sets = [...this.measures.map((names) => new Set(names.map(measureKey).map(hash))), ...this.#columns.values()];
    const all = new Set([...this.declared.keys(), ...sets.flatMap((names) => [...names]).sort((a, b) => a - b)]);
    const taken = sets.map(() => new Set());
    const give = (name, home) => {
      const near = taken.filter((_, at) => sets[at].has(name));
      const isFree = (place) => near.every((places) => !places.has(place));
      if (home && !isFree(home)) return;
      home ??= this.#next(name, isFree);
      for (const places of near) places.add(home);
      found.set(name, home);
    };
    for (const name of all) give(name, this.declared.get(name) ?? this.#next(name));
    for (const name of all) if (!found.has(name)) give(name);
    const lacking = [...found.values()].filter((place) => place === undefined);
    if (lacking.length) {
      // Also as many as there are, since more will follow: each time the whole page is drawn by other colours.
      for (const _ of [...lacking, ...this.#further]) this.#further.push(COLOURS + this.own.push(`hsl(${this.own.length * TURN} 60% 45%)`));
      return this.look();
    }
    this.#places = found;
    if ([...earlier].some(([name, place]) => found.get(name) !== place)) this.changed();
  }

  /** The first place from that of the hash on which is free. */
  #next(name, isFree = () => true) {
    const start = name % PLACES.length;
    const order = [...PLACES.slice(start), ...PLACES.slice(0, start)].filter((place) => this.free.includes(place));
    return [...order, ...this.free.filter((place) => place > COLOURS), ...this.#further].find(isFree);
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
