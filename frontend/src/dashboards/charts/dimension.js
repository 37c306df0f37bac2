// The column of an axis: times, numbers or names. Says where each value is and how it is written.

import { compare, isNumeric, number } from "../numbers.js";
import { clockOf, DAY, fineFormat, isMoment, isTwice, PLAIN, sameDay, sameYear } from "../times.js";
import { bucketsOf, numbersOf, yearsOf } from "./buckets.js";

/** The format of the starts of each unit. */
const FORMATS = { minute: "datetime", hour: "datetime", day: "date", week: "date", month: "month", quarter: "month", year: "year" };

/**
 * @typedef {object} Dimension
 * @property {"time" | "number" | "name"} kind
 * @property {any[]} values one for each row
 * @property {number[]} positions the position of each row: milliseconds, the number itself, or the place of its name; NaN if it has none
 * @property {any[]} names the distinct values in order, for names only
 * @property {(position: number) => string} text
 * @property {(row: number) => string} name of a row's value
 * @property {(place: number, other: number) => number} [compare] compares two names: times and numbers by size, a missing one last
 * @property {import("../times.js").Clock} [clock] of times
 * @property {import("./buckets.js").Buckets | null} [buckets] of times and years
 * @property {string} [format] for times: the format in which they differ from each other
 * @property {(place: number) => string | undefined} [cut] why the bucket at a place is incomplete
 * @property {import("../values.js").Way} [way] of a number's ticks
 * @property {(place: number, before?: number) => string} [short] the time at a place, without the part that the time at place `before`
 *   shows already
 */

/**
 * @param {import("./rows.js").Rows} rows
 * @param {string} name
 * @param {import("../values.js").Formats} formats
 * @param {import("./buckets.js").When} when
 * @param {"rows" | "time" | "size"} [bands] treats each time or number as a band. `rows`: in the order of the rows. `time`: with empty
 *   bands for missing times, and for missing numbers if the numbers are in order. `size`: as `time`, but for all numbers.
 * @returns {Dimension}
 */
export function dimension(rows, name, formats, when, bands) {
  const values = rows.values(name);
  const way = rows.way(formats, [name], { along: true });
  const isYear = way.format === "year";
  const kind = isYear ? "number" : kindOf(rows.type(name), values);
  const clock = kind === "time" ? clockOf(values, when.zone) : null;
  const isInOrder = bands && bands !== "rows";
  const sizes = clock ? values.map(clock.of) : isYear || (isInOrder && kind === "number" && way.format !== "id") ? values.map(number) : null;
  const buckets = clock ? bucketsOf(sizes, when, clock, name) : isYear ? yearsOf(sizes, when, name) : sizes && numbersOf(sizes, bands === "size");
  const times = clock || isYear || buckets ? sizes : null;
  const format = clock && (FORMATS[buckets?.unit] ?? grain((buckets?.starts ?? times).map(clock.wall)));
  // In a column without a zone, one hour may stand for both hours that a clock shows twice.
  const isBoth = (at) => buckets?.hours && clock === PLAIN && when.zone && isTwice(at, when.zone);
  let known; // made only when the pointer or a drawing asks for a name
  const plain = clock
    ? (at) => (Number.isNaN(at) ? [formats.name(null)] : [formats.time(clock.wall(at), format), clock.again?.(at) ? "again" : isBoth(at) && "both hours"])
    : (value) => [(known ??= formats.names(values, way))(Number.isNaN(value) ? null : value)];
  const write = (value, days) => {
    const [begin, finish] = days?.(value, buckets?.next(value)) ?? [];
    return [...plain(finish - begin === DAY ? begin : value), buckets?.cut(value, days)].filter(Boolean).join(", ");
  };
  if (kind !== "name" && !bands) {
    const positions = times ?? values.map(number);
    return { kind, values, positions, names: [], text: write, name: (row) => write((clock ? positions : values)[row]), way, clock, buckets, format };
  }
  const inTime = times && isInOrder;
  const placed = inTime && buckets && !buckets.some;
  const keys = placed ? times : values;
  let order = keys.map((_, row) => row);
  if (inTime) order = order.filter((row) => !Number.isNaN(times[row])).sort((a, b) => times[a] - times[b]);
  const names = [...new Set([...(placed ? buckets.starts : []), ...order.map((row) => keys[row])])];
  const places = new Map(names.map((key, place) => [key, place]));
  const positions = keys.map((key) => places.get(key) ?? NaN);
  const at = clock ? (place) => (placed ? names[place] : clock.of(names[place])) : (place) => names[place];
  const walls = clock && names.map((_, place) => clock.wall(at(place)));
  const text = (place, days) => write(at(place), days);
  const inOrderOf = (place, other) => {
    const [one, two] = [names[place], names[other]];
    if (isAbsent(one) || isAbsent(two)) return isAbsent(one) - isAbsent(two);
    if (kind === "name") return text(place).localeCompare(text(other), formats.locale, { numeric: true });
    return clock ? at(place) - at(other) : compare(one, two);
  };
  const time = clock && shortTimes((place) => walls[place], format, formats);
  const short = clock ? (place, before) => [time(place, before), ...plain(at(place)).slice(1)].filter(Boolean).join(", ") : buckets ? (place) => plain(names[place])[0] : null;
  return { kind: "name", values, positions, names, text, name: (row) => text(positions[row]), sized: kind !== "name", compare: inOrderOf, short, cut: (place, days) => buckets?.cut(at(place), days), buckets };
}

const isAbsent = (name) => name === null || Number.isNaN(name);

function kindOf(type, values) {
  if (isNumeric(type)) return "number";
  if (type === "date" || type === "datetime") return "time";
  const known = values.filter((value) => value !== null);
  return known.length && known.every(isMoment) ? "time" : "name";
}

/**
 * The shortest texts of times. If the previous time is on the same day, the date is omitted; if it is in the same year, the year is. After
 * the first label, January is written as its year.
 */
function shortTimes(at, format, formats) {
  const inYear = { month: "monthname", date: "day", datetime: "daytime" }[format] ?? format;
  const inDay = { datetime: "time", instant: "second", exact: "millisecond" }[format];
  return (place, before) => {
    const time = at(place);
    if (Number.isNaN(time)) return formats.name(null);
    if (inDay && sameDay(time, at(before))) return formats.time(time, inDay);
    if (sameYear(time, at(before))) return formats.time(time, inYear);
    return formats.time(time, before >= 0 && format === "month" && !new Date(time).getUTCMonth() ? "year" : format);
  };
}

/** The coarsest format in which these times differ from each other. */
function grain(all) {
  const moments = [...new Set(all)].filter((at) => !Number.isNaN(at));
  const dates = moments.map((at) => new Date(at));
  const fine = fineFormat(moments);
  if (fine) return fine;
  if (moments.some((at) => at % DAY)) return "datetime";
  if (dates.length === 1 || dates.some((date) => date.getUTCDate() !== 1)) return "date";
  return dates.every((date) => date.getUTCMonth() === 0) ? "year" : "month";
}
