// Buckets are times that are the starts of hours, days, weeks, months, quarters or years. This module finds the buckets that have no row,
// and those that are incomplete because they are not over or because the period begins or ends within them.

import { DAY, isShown, moment, PLAIN } from "../times.js";

const WEEK = 7 * DAY;
const MINUTE = 60_000;
const UNITS = { second: 1_000, minute: MINUTE, hour: 3_600_000, day: DAY, week: WEEK };
const MONTHS = { month: 1, quarter: 3, year: 12 };
/** The offset of a time zone from UTC is a multiple of this number of milliseconds. */
const QUARTER_HOUR = 900_000;
const NAMED = /(?:^|[\W_])(minute|hour|day|week|month|quarter|year)$/i;
const OTHER_YEARS = /fiscal|financial|tax|school|academic/i;
/** Maximum places of a chart when empty ones are included, and the note for the viewer if there are more. */
const MOST = 20_000;
/** If the numbers with empty places between them would be more than this many times the numbers with rows, no empty places are drawn. */
const SPARSE = 4;
export const LEFT_OUT = "Times without a value are left out: there are too many of them.";

/**
 * @typedef {object} Buckets
 * @property {number[]} starts all starts from the first to the last, including those without a row
 * @property {boolean} some whether buckets without a row are missing in `starts`, because there are too many or because some rows are not
 *   here
 * @property {boolean} regular whether a bucket without a row is a gap in the data, and not just a day for which no row is expected
 * @property {string} [unit] the unit that the viewer chose, if these are its starts
 * @property {boolean} [hours] whether the buckets are shorter than a day
 * @property {(at: number, days?: (start: number, end: number) => [number, number]) => string} cut why the bucket that starts there is
 *   incomplete, or those of its days that `days` returns: `not over`, `in part` (the period does not contain all of it), `in part, not
 *   over`, or empty if it is complete
 * @property {(at: number) => number} next the start of the next bucket
 */
/**
 * @typedef {object} When what a response says about the times in its rows; times are by the clock of their zone
 * @property {string} [now]
 * @property {{start: string, end: string}} [period]
 * @property {string} [unit] the unit that the viewer chose
 * @property {string} [week_start]
 * @property {string} [zone]
 * @property {boolean} [reduced] whether the server sent only some of the rows
 * @property {0} [fill] set if the author says that the times are buckets and that a missing bucket counts as 0
 */

/**
 * @param {number[]} times
 * @param {When} when
 * @param {string} [name] the name of their column, such as `month`, which tells the unit if there is only one time. If the name does not
 *   tell, the unit is a month or year that begins at the time and contains the period.
 * @returns {Buckets | null} null if the times are not the starts of a unit, or if there is only one and its unit is unknown
 */
export function bucketsOf(times, when, clock = PLAIN, name = "") {
  const { now, period, zone } = when;
  const known = [...new Set(times)].filter((at) => !Number.isNaN(at)).sort((a, b) => a - b);
  const [from, to] = [moment(period?.start), moment(period?.end) + DAY].map(clock.position);
  const holds = (unit) => from >= known[0] && to <= byMonths(MONTHS[unit])(known[0]);
  const ofOne = () => NAMED.exec(name)?.[1].toLowerCase() ?? (to - from > DAY ? ["month", "year"].find(holds) : undefined);
  const found = known.length ? stepOf(known, { ...when, unit: when.unit ?? (known.length < 2 ? ofOne() : undefined) }, clock) : null;
  if (!found) return null;
  const { step, regular, hours, unit } = found;
  const there = new Set(known);
  const exists = (at) => !hours || !zone || clock !== PLAIN || there.has(at) || [at, step(at) - MINUTE].some((each) => isShown(each, zone));
  const next = (at) => (exists(step(at)) ? step(at) : next(step(at)));
  const isIn = known.every((at) => step(at) > from && at < to);
  const here = now ? clock.position(moment(now)) : Infinity;
  const today = isIn && to <= here ? Infinity : here; // if the period is over, the present does not make its last bucket incomplete
  const [first, last] = [known[0], known.at(-1)];
  const end = Math.max(last, isIn ? Math.min(to - 1, today) : -Infinity);
  const run = (at, way, goesOn) => {
    const places = [];
    for (; goesOn(at) && places.length <= MOST; at = step(at, way)) places.push(at);
    return places;
  };
  const after = (start) => run(start, 1, (at) => at <= end);
  const before = isIn ? run(step(first, -1), -1, (at) => step(at) > from).reverse() : [];
  const all = when.reduced ? [] : [...before, ...after(first)];
  const some = !all.length || all.length > MOST;
  const starts = some ? [...before, ...known, ...after(step(last))] : all;
  const cut = (at, days) => {
    const [begin, finish] = days ? days(at, step(at)) : [at, step(at)];
    const isPart = isIn && (begin < from || (finish > to && !now?.startsWith(period.end)));
    return [isPart && "in part", today < finish && "not over"].filter(Boolean).join(", ");
  };
  return { starts: starts.filter(exists), some, regular, unit, hours, cut, next };
}

/**
 * Buckets of years that are integers or strings.
 * @param {string} name the name of their column. A year that may begin in any month, such as a fiscal year, is never incomplete, because
 *   its end is unknown.
 * @returns {Buckets | null}
 */
export function yearsOf(years, when, name) {
  const alone = new Set(years).size < 2;
  const start = (year) => Date.UTC(year, 0);
  const known = { ...when, unit: alone ? "year" : undefined, ...(OTHER_YEARS.test(name) && { now: undefined, period: undefined }) };
  const found = when.reduced ? null : bucketsOf(years.map(start), known);
  return found && { ...found, starts: found.starts.map((at) => new Date(at).getUTCFullYear()), cut: (year) => found.cut(start(year)), next: (year) => year + 1 };
}

/**
 * Whole numbers in equal steps, some of which have no row. An axis of bars shows an empty place for each of these, as it does for times.
 * @param {number[]} numbers in the order of the rows
 * @param {boolean} sorted whether they are drawn in the order of their size; otherwise in that of the author
 * @returns {Buckets | null}
 */
export function numbersOf(numbers, sorted) {
  const known = [...new Set(numbers)].filter((at) => !Number.isNaN(at));
  if (sorted) known.sort((a, b) => a - b);
  const steps = known.slice(1).map((at, place) => at - known[place]);
  const size = steps.reduce(divisor, 0);
  const isRising = known.every(Number.isSafeInteger) && steps.every((step) => step > 0);
  if (!isRising || !size || steps.filter((step) => step === size).length * 2 < steps.length) return null;
  const count = (known.at(-1) - known[0]) / size + 1;
  return count > known.length * SPARSE ? null : { starts: Array.from({ length: count }, (_, place) => known[0] + place * size), some: false, regular: true, cut: () => "", next: (at) => at + size };
}

/**
 * The points of a line, with an empty point in each gap. If `fill` is 0 and all buckets are known, each bucket without a row gets a point
 * of value 0 instead.
 * @param {{x: number}[]} points in their order
 * @param {Buckets | null} buckets
 */
export function withGaps(points, buckets, fill) {
  const made = (x, y) => ({ x, y, value: y, rows: [], low: 0, high: y });
  if (fill === 0 && buckets?.some === false) {
    const there = new Set(points.map(({ x }) => x));
    return [...points, ...buckets.starts.filter((x) => !there.has(x)).map((x) => made(x, 0))].sort((a, b) => a.x - b.x);
  }
  if (!buckets?.regular) return points;
  const found = [];
  points.forEach((point, place) => {
    found.push(point);
    const next = buckets.next(point.x);
    if (points[place + 1]?.x > next) found.push(made(next, null));
  });
  return found;
}

/**
 * The gaps of a line if the server sent only some of the rows. The reduction keeps some neighbouring rows, so many of the remaining steps
 * have the original length.
 * @param {{x: number}[]} points in their order
 * @param {number} least the smallest distance that is visible on the axis
 * @param {string | null} [zone] whose clock the axis shows
 */
export function gapsOfReduced(points, least, zone) {
  const steps = points.slice(1).map(({ x }, place) => x - points[place].x).filter((size) => size > 0);
  const step = steps.reduce((a, b) => Math.min(a, b), Infinity);
  const regular = steps.filter((size) => size === step).length * 4 >= steps.length;
  return { regular, next: (at) => (zone && !isShown(at + step, zone) ? Infinity : at + Math.max(step, least)) };
}

/**
 * Splits the points into runs with the same class of line. The line to and from an incomplete bucket is a separate run.
 * @param {{x: number}[]} points
 * @param {Buckets | null} buckets
 * @returns {[string, any[]][]}
 */
export function runsOf(points, buckets) {
  const runs = [];
  let before;
  points.forEach((point, place) => {
    const cut = buckets?.cut(point.x);
    const kind = cut || before ? "line cut" : "line";
    if (runs.at(-1)?.[0] !== kind) runs.push([kind, points.slice(Math.max(0, place - 1), place)]);
    runs.at(-1)[1].push(point);
    before = cut;
  });
  return runs;
}

/**
 * Returns how to go from one start to the next or to the previous: by the unit if it is known, otherwise by the largest unit that fits all
 * times. The times are regular if at least half of them follow the previous time by this step; if they are only some of the rows, a quarter
 * is enough. Times that are not regular are no starts, unless they are days.
 */
function stepOf(times, { unit, reduced, fill }, clock) {
  const dates = times.map((at) => new Date(clock.wall(at)));
  const part = Math.abs(dates.reduce((size, date) => divisor(Number(date), size), DAY));
  const [elapsed, between] = [times, dates].map((all) => all.slice(1).reduce((size, at, place) => divisor(at - all[place], size), 0));
  const isFirst = part === DAY && dates.every((date) => date.getUTCDate() === 1);
  const months = isFirst ? [12, 3, 1].find((size) => dates.every((date) => date.getUTCMonth() % size === 0)) : NaN;
  const weeks = part === DAY && between % WEEK === 0;
  if (months % MONTHS[unit] === 0) return { step: byMonths(MONTHS[unit]), regular: true, unit };
  if (unit === "week" ? weeks : part % UNITS[unit] === 0) return { step: by(UNITS[unit], clock, times[0]), regular: true, unit, hours: UNITS[unit] < DAY };
  const [passed, shown] = [elapsed, between].map((size) => Math.abs(divisor(DAY, size)));
  // The steps of a query that counts six hours in UTC are always six hours long, even when clocks change.
  const isPassed = passed < DAY && passed > shown;
  const size = times[0] % QUARTER_HOUR ? part : Math.max(isPassed * passed, shown);
  if (times.length < 2 || size < UNITS.second) return null;
  const step = isFirst ? byMonths(months) : isPassed ? (at, way = 1) => at + way * size : by(weeks && (times.length > 2 || dates[0].getUTCDay() < 2) ? WEEK : size, clock, times[0]);
  const follow = times.filter((at, place) => place && step(times[place - 1]) === at).length;
  const regular = fill === 0 || follow * (reduced ? 4 : 2) >= times.length - 1;
  return regular || size === DAY ? { step, regular, hours: size < DAY } : null;
}

/** Steps of the clock: when clocks change, a step of six hours is an hour longer or shorter. */
function by(size, clock, first) {
  return (at, way = 1) => {
    const next = at + way * size;
    const ahead = (((clock.wall(next) - clock.wall(first)) % size) + size) % size;
    return next - ahead + (ahead * 2 < size ? 0 : size);
  };
}

function byMonths(size) {
  return (at, way = 1) => {
    const date = new Date(at);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + way * size, 1);
  };
}

function divisor(a, b) {
  return b ? divisor(b, a % b) : a;
}
