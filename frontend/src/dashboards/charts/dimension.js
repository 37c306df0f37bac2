// The column of an axis: a time, a number or a name; where each value lies, and how it is written.

import { isNumeric, number } from "../numbers.js";
import { isMoment, moment } from "../times.js";
import { bucketsOf } from "./buckets.js";

const DAY = 86_400_000;

/**
 * @typedef {object} Dimension
 * @property {"time" | "number" | "name"} kind
 * @property {any[]} values one for each row
 * @property {number[]} positions where each row lies: milliseconds, the number itself, or the place of its name
 * @property {any[]} names the different values, in order; of names alone
 * @property {(position: number) => string} text
 * @property {(place: number) => string | undefined} [cut] how the time at a place is cut off
 * @property {import("../values.js").Way} [way] of a number's ticks
 * @property {(place: number, first: boolean) => string} [short] a time where it stands beside others on an axis
 */

/**
 * @param {import("./rows.js").Rows} rows
 * @param {string} name
 * @param {import("../values.js").Formats} formats
 * @param {boolean} [asNames] whether times and numbers are taken one by one, as bars do
 * @param {import("./buckets.js").When | null} [when] where times are to stand beside those that are missing
 * @returns {Dimension}
 */
export function dimension(rows, name, formats, asNames = false, when = null) {
  const values = rows.values(name);
  const kind = kindOf(rows.type(name), values);
  const way = rows.way(formats, [name], { along: true });
  const write = writer(kind, values, way, formats);
  if (kind !== "name" && !asNames) {
    const positions = values.map(kind === "time" ? moment : number);
    const exact = new Map(values.flatMap((value, row) => (typeof value === "string" ? [[positions[row], value]] : [])));
    const text = kind === "time" ? write : (at) => write(exact.get(at) ?? at);
    return { kind, values, positions, names: [], text, way };
  }
  const buckets = when && kind === "time" ? bucketsOf(values.map(moment), when) : null;
  const keys = buckets ? values.map(moment) : values;
  const places = new Map(buckets?.starts.map((at, place) => [at, place]));
  for (const key of keys) if (!places.has(key)) places.set(key, places.size);
  const names = [...places.keys()];
  const positions = keys.map((key) => places.get(key));
  const cut = (place) => buckets?.cut(names[place]);
  const at = (place) => (buckets ? names[place] : moment(names[place]));
  const text = (place) => [write(kind === "time" ? at(place) : names[place]), cut(place)].filter(Boolean).join(", ");
  const short = kind === "time" ? (place, first) => shortTime(at(place), grain(names.map((_, each) => at(each))), first, formats) : null;
  return { kind: "name", values, positions, names, text, short, cut };
}

/** How the times of a column are written; undefined where it holds none. */
export function timeFormat(rows, name) {
  const values = rows.values(name);
  return kindOf(rows.type(name), values) === "time" ? grain(values.filter((value) => value !== null).map(moment)) : undefined;
}

function kindOf(type, values) {
  if (isNumeric(type)) return "number";
  if (type === "date" || type === "datetime") return "time";
  const known = values.filter((value) => value !== null);
  return known.length && known.every(isMoment) ? "time" : "name";
}

function writer(kind, values, way, formats) {
  if (kind !== "time") return (value) => formats.name(value, way);
  const format = grain(values.filter((value) => value !== null).map(moment));
  return (at) => (Number.isNaN(at) ? formats.name(null) : formats.time(at, format));
}

/** Months without their year but the first and January, days without theirs. */
function shortTime(at, format, first, formats) {
  if (Number.isNaN(at)) return formats.name(null);
  if (format === "month" && !first) return formats.time(at, new Date(at).getUTCMonth() ? "monthname" : "year");
  return formats.time(at, format === "date" && !first ? "day" : format);
}

/** The coarsest way of writing that tells these moments apart. */
export function grain(all) {
  const moments = all.filter((at) => !Number.isNaN(at));
  const dates = moments.map((at) => new Date(at));
  if (moments.some((at) => at % DAY)) return "datetime";
  if (dates.some((date) => date.getUTCDate() !== 1)) return "date";
  return dates.every((date) => date.getUTCMonth() === 0) && dates.length > 1 ? "year" : "month";
}
