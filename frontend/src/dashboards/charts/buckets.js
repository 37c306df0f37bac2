// Times that are the starts of hours, days, weeks, months, quarters or years: which of these have no row, and which are
// cut off, by now or by the ends of the period.

import { DAY, moment } from "../times.js";

const MINUTE = 60_000;
const WEEK = 7 * DAY;
/** More bars than these would be thinner than a pixel. */
const MOST = 1_000;

/**
 * @typedef {object} Buckets
 * @property {number[]} starts each from the first to the last, also those without a row
 * @property {(at: number) => "" | "so far" | "in part"} cut how the bucket that starts there is cut off
 * @property {(at: number) => number} next where the one after it starts
 */
/** @typedef {{now?: string, period?: {start: string, end: string}}} When of the rows, by the clock of their zone */

/**
 * @param {number[]} times
 * @param {When} when
 * @returns {Buckets | null} null for times that are no starts, and for one alone
 */
export function bucketsOf(times, { now, period }) {
  const known = [...new Set(times)].filter((at) => !Number.isNaN(at)).sort((a, b) => a - b);
  const step = known.length > 1 && known.length <= MOST ? stepOf(known) : null;
  if (!step) return null;
  const [today, from, to] = [now ? moment(now) : Infinity, moment(period?.start), moment(period?.end) + DAY];
  const isIn = known.every((at) => step(at) > from && at < to);
  const end = Math.max(known.at(-1), isIn ? Math.min(to - 1, today) : -Infinity);
  const starts = [];
  let first = known[0];
  while (isIn && first > from && starts.length <= MOST) starts.push((first = step(first, -1)));
  if (first < known[0] && step(first) <= from) starts.pop();
  starts.reverse();
  for (let at = known[0]; at <= end && starts.length <= MOST; at = step(at)) starts.push(at);
  if (starts.length > MOST) return null;
  const cut = (at) => {
    if (at <= today && today < step(at)) return "so far";
    return isIn && (at < from || step(at) > to) ? "in part" : "";
  };
  return { starts, cut, next: (at) => step(at) };
}

/** From a start to the next one, or to the one before. */
function stepOf(times) {
  const dates = times.map((at) => new Date(at));
  if (times.every((at) => at % DAY === 0) && dates.every((date) => date.getUTCDate() === 1)) {
    const months = dates.map((date) => date.getUTCFullYear() * 12 + date.getUTCMonth());
    const size = [12, 3].find((count) => months.every((month) => month % count === 0)) ?? 1;
    return (at, way = 1) => {
      const date = new Date(at);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + way * size, 1);
    };
  }
  const between = times.slice(1).reduce((size, at, place) => divisor(size, at - times[place]), 0);
  const weeks = between % WEEK === 0 && (times.length > 2 || dates[0].getUTCDay() < 2);
  const size = times.some((at) => at % DAY) ? between : weeks ? WEEK : DAY;
  return size < MINUTE ? null : (at, way = 1) => at + way * size;
}

function divisor(a, b) {
  return b ? divisor(b, a % b) : a;
}
