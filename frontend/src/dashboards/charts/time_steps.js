// The steps between the labels of an axis of times, from seconds to weeks, months and years. They follow the clock that the axis shows.

import { DAY } from "../times.js";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const WEEK = 7 * DAY;
/** The average month of the calendar. */
const MONTH = 30.436875 * DAY;
const DECADES = [1, 10, 100, 1000].flatMap((size) => [size, 2 * size, 5 * size]);
const SIZES = [
  ...DECADES.filter((size) => size < 1000),
  ...[1_000, MINUTE].flatMap((size) => [size, 5 * size, 15 * size, 30 * size]),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[DAY, 2 * DAY, WEEK, MONTH, 3 * MONTH],
  ...DECADES.map((years) => years * 12 * MONTH),
];

/**
 * @param {number} low milliseconds of a clock
 * @param {number} high
 * @param {number} about the approximate length of a step
 * @param {boolean} sunday whether weeks begin on Sunday; else on Monday
 * @returns {number[]} the starts of the steps from low to high
 */
export function timesInSteps(low, high, about, sunday) {
  const far = (size) => Math.abs(Math.log(size / about));
  const size = SIZES.reduce((best, each) => (far(each) < far(best) ? each : best));
  const months = Math.round(size / MONTH);
  const first = Date.UTC(2000, 0, sunday ? 2 : 3);
  const at = (place) => (months ? Date.UTC(2000, place * months) : first + place * size);
  const found = [];
  for (let place = Math.floor((low - first) / size); at(place) <= high; place += 1) if (at(place) >= low) found.push(at(place));
  return found;
}
