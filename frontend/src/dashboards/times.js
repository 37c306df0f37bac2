// Reads ISO 8601 texts of moments (days, months or times), and lists the formats in which a page may write them.

const MOMENT = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?/;
const WHOLE_MOMENT = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/;
const ZONED = /T.*(?:Z|[+-]\d\d:?\d\d)$/;
export const DAY = 86_400_000;
const DAY_LETTERS = "2026-01-31".length;

/** The options of Intl, by format. */
export const TIMES = {
  date: { dateStyle: "medium" },
  day: { day: "numeric", month: "short" },
  month: { month: "short", year: "numeric" },
  monthname: { month: "short" },
  year: { year: "numeric" },
  time: { timeStyle: "short" },
  second: { timeStyle: "medium" },
  daytime: { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" },
  datetime: { dateStyle: "medium", timeStyle: "short" },
  instant: { dateStyle: "medium", timeStyle: "medium" },
  millisecond: { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
  exact: { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
};

/** The format for moments (in milliseconds) that have seconds or fractions of a second. Undefined if all are whole minutes. */
export const fineFormat = (moments) => (moments.some((at) => at % 1000) ? "exact" : moments.some((at) => at % 60_000) ? "instant" : undefined);

const clocks = {};

/** The time that a zone's clocks show at an instant, as milliseconds of UTC. */
function wallIn(at, zone) {
  const clock = (clocks[zone] ??= new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone: zone }));
  return moment(clock.format(at));
}

/** Whether the clocks of a zone ever show this time. When they are put forward, they skip some minutes. */
export function isShown(wall, zone) {
  const near = wall - (wallIn(wall, zone) - wall);
  const at = wall - (wallIn(near, zone) - near);
  return wallIn(at, zone) === wall;
}

/** Whether the clocks of a zone show this time twice. */
export function isTwice(wall, zone) {
  const [before, after] = [-DAY, DAY].map((far) => wall - (wallIn(wall + far, zone) - (wall + far)));
  return before !== after && [before, after].every((at) => wallIn(at, zone) === wall);
}

/** Whether two moments are on the same day. */
export function sameDay(one, other) {
  return Math.floor(one / DAY) === Math.floor(other / DAY);
}

/** Whether two moments are in the same year. */
export function sameYear(one, other) {
  return new Date(one).getUTCFullYear() === new Date(other).getUTCFullYear();
}

/** Remembers results, because all charts of a page have the same texts, and each reads them several times. */
function remembered(read) {
  const known = new Map();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      if (known.size > 20_000) known.clear();
      known.set(text, (found = read(text)));
    }
    return found;
  };
}

/** Whether a text is a day, a month or an instant in the notation of ISO 8601 that exists. February 30 does not. */
export const isMoment = remembered((text) => {
  if (!WHOLE_MOMENT.test(text)) return false;
  const date = new Date(moment(text));
  return date.getUTCFullYear() === Number(text.slice(0, 4)) && date.getUTCDate() === Number(text.slice(8, DAY_LETTERS) || 1);
});

/**
 * The time that an ISO text shows, as milliseconds of UTC. Its zone is ignored, so that a day remains the same day.
 * @returns {number} NaN if the text is not a moment
 */
export const moment = remembered((text) => {
  if (text?.length === DAY_LETTERS) return Date.parse(text);
  const parts = MOMENT.exec(text);
  if (!parts) return NaN;
  const [, year, month, day = 1, hour = 0, minute = 0, second = 0, fraction = 0] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second, Math.round(fraction * 1000));
});

/**
 * Converts between moments, the times that a clock shows, and positions on an axis.
 * @typedef {object} Clock
 * @property {(wall: number) => number} position
 * @property {(ends: [number, number]) => [number, number, number][]} parts the parts of an axis with the same offset: start, end, and how
 *   far the clock is ahead of the positions there
 * @property {(position: number) => number} wall
 * @property {(text: string) => number} of the position of a text
 * @property {(position: number) => boolean} [again] whether the clock shows the time at a position for the second time
 */

/** @type {Clock} positions are the times of the clock, so all days are equally long */
export const PLAIN = { position: (wall) => wall, parts: (ends) => [[...ends, 0]], wall: (position) => position, of: moment };

/**
 * @param {any[]} values
 * @param {string | null} [zone] the zone of the times, if known; it tells when the clocks changed between two of them
 * @returns {Clock} if clocks change between the times, positions are the elapsed time, so that each hour has its place
 */
export function clockOf(values, zone) {
  const there = values.filter((value) => value !== null);
  if (!there.every((text) => ZONED.test(text)) || there.every((text) => moment(text) % DAY === 0)) return PLAIN;
  const known = there.map((text) => [Date.parse(text), moment(text)]).sort((a, b) => a[0] - b[0]);
  const base = known.length && known[0][1] - known[0][0];
  const shifts = [];
  known.forEach(([at, wall], place) => {
    const by = wall - at - base;
    if (by === shifts.at(-1)?.by) return;
    const [last, from] = place ? changeBetween(known[place - 1][0], at, wall - at, zone) : [at, at];
    shifts.push({ last: last + base, from: from + base, by });
  });
  if (shifts.length < 2) return PLAIN;
  const found = (test) => (shifts.findLast(test) ?? shifts[0]).by;
  return {
    position: (wall) => wall - found(({ from, by }) => wall - by >= from),
    parts: ([low, high]) => shifts.map(({ from, by }, place) => [place ? Math.max(low, from) : low, Math.min(high, (shifts[place + 1]?.from ?? Infinity) - 1), by]),
    wall: (at) => at + found(({ from }) => at >= from),
    again: (at) => shifts.some(({ last, from, by }, place) => place && at >= from && at + by - shifts[place - 1].by <= last),
    of: (text) => (text === null ? NaN : Date.parse(text) + base),
  };
}

/**
 * The last instant before a change of the clocks and the first one after it. Exact only if the zone is known.
 * @param {number} last an instant before the change
 * @param {number} from an instant after the change
 * @param {number} ahead how far the clocks are ahead of UTC after the change
 */
function changeBetween(last, from, ahead, zone) {
  const isAfter = (at) => wallIn(at, zone) - at === ahead;
  if (!zone || !isAfter(from) || isAfter(last)) return [last, from];
  while (from - last > 1_000) {
    const middle = last + Math.floor((from - last) / 2_000) * 1_000;
    if (middle === last) break;
    if (isAfter(middle)) from = middle;
    else last = middle;
  }
  return [last, from];
}
