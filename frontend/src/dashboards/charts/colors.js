// The colour of a series follows from its name. It is the same in all charts of a page, whatever the order of the rows is. The dashboard's
// file may set it, or the place of the name among the choices of a control; otherwise a hash of the name selects it. If several names of a
// column want the same colour, the name with the lowest hash gets it. The others get the next free ones: first the other hues, then shades
// of all hues, then generated hues. So only the set of known names matters, not which of them came first: two viewers who have seen the
// same names see the same colours. A page remembers the names of a column, so that filtering, reloading or visiting another dashboard
// changes no colour.

import { distance, NEAR } from "../contrast.js";

/** The place of the grey colour, which is for all other groups together. */
export const LAST = 8;
const COLOURS = 8;
/** If a response has more names than this, only the drawn ones are remembered. */
const MOST = 100;
const PLACES = [1, 2, 3, 4, 5, 6, 7];
/** Additional hues, used when all hues of the palette are taken or look like a colour that the file sets. */
const SPARE = ["#0084b4", "#e2008a", "#1f2f66"];
/** Two hues of a palette that are nearer than this count as the same colour. So do two shades, unless no others are left. */
const SAME = 60;
/** Degrees between two generated hues. With this angle, none of them ever repeats. */
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
   * @param {() => void} look draws the page again with `own`, the colours that follow those of the palette, and calls `see`
   * @param {() => void} changed called when a name has a different colour than `of` returned before
   * @param {Record<string, Record<string, number>>} [before] the names that were shown before, by column; `settle` adds to them. They are
   *   hashes, because a browser may store them and names are data.
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

  /** @param {Record<string, string>[]} modes the page's colours in light and dark mode */
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
   * The colours of the series that a chart draws together. A number is a place in the palette. A word is a CSS class.
   * @param {string} column of the names; "" for measures
   * @param {any[]} names
   * @param {Record<string, number | string>} [own] the panel's colours, which override the dashboard's
   * @param {any[]} [all] all names in the response, including those that are drawn together as one, because another response may draw each
   *   of them
   * @returns {(number | string)[]}
   */
  of(column, names, own, all = names) {
    const key = (name) => hash((column ? keyOf : measureKey)(name));
    const known = all.length > MOST ? names : all;
    if (column) this.#learn(column, known.filter((name) => this.given(name, own) === undefined).map(key));
    return names.map((name) => this.given(name, own) ?? this.#places.get(key(name)));
  }

  /** The colour that the file sets for a name. Undefined if it sets none. */
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

  /** If a query returns the choices of a control, they count as names of the column with the control's name. */
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
      // Adds colours for the names that lack one, and as many again as were added so far, because more names will follow and each addition
      // draws the whole page again.
      for (const _ of [...lacking, ...this.#further]) this.#further.push(COLOURS + this.own.push(`hsl(${this.own.length * TURN} 60% 45%)`));
      return this.look();
    }
    this.#places = found;
    if ([...earlier].some(([name, place]) => found.get(name) !== place)) this.changed();
  }

  /** The first free place, starting from that of the hash. */
  #next(name, isFree = () => true) {
    const start = name % PLACES.length;
    const order = [...PLACES.slice(start), ...PLACES.slice(0, start)].filter((place) => this.free.includes(place));
    return [...order, ...this.free.filter((place) => place > COLOURS), ...this.#further].find(isFree);
  }

  /**
   * Call this when all responses have arrived. It adds their names to `before`.
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

/** A value as a key, in which NULL differs from every string. */
export function keyOf(value) {
  return value === null || value === undefined ? "\u0001" : String(value);
}

/** The prefix makes sure that the key is no property that every object has, such as `constructor`. */
function memoryOf(column) {
  return `.${column}`;
}

function measureKey(name) {
  return `\n${name}`;
}

/** The FNV-1a hash, with its bits mixed once more. */
function hash(name) {
  let found = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) found = Math.imul(found ^ name.charCodeAt(at), 0x01000193);
  found = Math.imul(found ^ (found >>> 15), 0x2c1b3c6d);
  return (found ^ (found >>> 13)) >>> 0;
}
