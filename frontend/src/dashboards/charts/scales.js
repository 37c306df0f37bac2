// Scales from values to pixels. They are linear and use d3's ticks. The scales of d3-scale would add 13 KB of colours and number formats
// that this code does not use.

import { nice, ticks, tickStep } from "d3-array";

import { shareOf } from "../numbers.js";
import { DAY, fineFormat, sameDay, sameYear } from "../times.js";
import { isCode } from "../values.js";
import { textWidth } from "./measure.js";
import { timesInSteps } from "./time_steps.js";

/** The seconds of a day, an hour and a minute. The labels of durations are multiples of one of these. */
const SPANS = [86_400, 3_600, 60];

/** If the numbers of an axis, or the steps between them, are near the limits of doubles, the axis is computed in one of these units. */
const [HUGE, TINY] = [1e300, 1e-290];

/** If two numbers differ by less than this share of them, they count as equal, because there are too few doubles between them for ticks. */
const FINEST = 16 * Number.EPSILON;

/** If larger steps would leave fewer than two ticks, at least this many are computed, and every second, third and so on is used. */
const ENOUGH = 8;

/** @typedef {{at: number, text: string}} Tick */

/**
 * @param {[number, number]} domain
 * @param {[number, number]} range
 */
export function linear([low, high], [start, end]) {
  const scale = (value) => start + (high === low ? 0.5 : shareOf(value, low, high)) * (end - start);
  scale.invert = (pixel) => low + ((pixel - start) / (end - start)) * (high - low);
  scale.domain = [low, high];
  return scale;
}

/** @returns {[number, number]} the smallest and the largest value; 0 and 1 if there are none */
export function extentOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Whether an axis with these ends has no room for ticks between them. */
export const areAlike = ([low, high]) => high - low <= FINEST * Math.max(Math.abs(low), Math.abs(high));

const finite = (at) => Math.max(-Number.MAX_VALUE, Math.min(at, Number.MAX_VALUE));

/**
 * The domain of an axis of numbers, which begins and ends at a tick, and its ticks.
 * @param {number[]} values
 * @param {{zero?: boolean, count?: number, way?: import("../values.js").Way}} options
 */
export function valueDomain(values, { zero = true, count = 4, way } = {}) {
  let [low, high] = extentOf(values).map(finite);
  const far = Math.max(Math.abs(low), Math.abs(high));
  const near = !areAlike([low, high]) && (low > 0 ? low > 0.7 * high : high < 0 && high < 0.7 * low);
  if (zero || !near) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) high = 1;
  const size = (way?.format === "duration" && SPANS.find((span) => count * span <= high - low)) || (far > HUGE ? HUGE : high - low < TINY ? TINY : 1);
  const domain = nice(low / size, high / size, count);
  return { domain: domain.map((at) => finite(at * size)), ticks: ticks(...domain, count).map((at) => at * size).filter(isCode(way) ? Number.isInteger : Number.isFinite) };
}

/**
 * The ticks of an axis of times: as many as fit. The step decides their format, and a label names the year when it changes.
 * @param {[number, number]} domain milliseconds
 * @param {number} width pixels
 * @param {import("./dimension.js").Dimension} by if it has buckets, ticks are placed only at their starts
 * @param {import("./buckets.js").When} when
 * @returns {Tick[]}
 */
export function timeTicks(domain, width, formats, by, when) {
  const { buckets, clock } = by;
  const pixel = (domain[1] - domain[0]) / width;
  const isFine = buckets && buckets.next(domain[0]) - domain[0] <= 2 * pixel; // within such a narrow bucket, every place looks like its start
  const starts = isFine ? null : buckets?.starts.filter((at) => at >= domain[0] && at <= domain[1]);
  const known = new Set(starts);
  const inSteps = (count) => clock.parts(domain).flatMap(([from, to, ahead]) => timesInSteps(from + ahead, to + ahead, (domain[1] - domain[0]) / count, when.week_start === "sunday").map((wall) => wall - ahead));
  const most = Math.max(2, Math.round(width / 40));
  const fitting = (found) => {
    const labels = timeTexts(found, formats, by);
    const widest = Math.max(0, ...labels.map(({ text }) => textWidth(text)));
    return labels.length > 1 && (widest + 16) * labels.length <= width ? labels : null;
  };
  for (let count = most; count > 1; count -= 1) {
    const found = inSteps(count);
    const labels = !starts || found.every((at) => known.has(at)) ? fitting(found) : null;
    if (labels) return labels;
  }
  const each = starts ?? inSteps(Math.max(most, ENOUGH));
  for (let step = 1; step < each.length; step += 1) {
    const labels = fitting(each.filter((_, place) => place % step === 0));
    if (labels) return labels;
  }
  return timeTexts([domain[0]], formats, by);
}

/** Writes the remaining labels again if some had no room, because each label omits the part of the date that the previous label shows. */
export const timesAnew = (formats, by) => by.clock && ((places) => timeTexts(places, formats, by));

function timeTexts(places, formats, { clock, format }) {
  const dates = places.map((at) => new Date(clock.wall(at)));
  const each = (test) => dates.every(test);
  const midnight = (date) => date.getTime() % DAY === 0;
  const first = (date) => midnight(date) && date.getUTCDate() === 1;
  const january = (date) => first(date) && date.getUTCMonth() === 0;
  const known = (place) => place > 0 && sameYear(dates[place], dates[place - 1]);
  const inDay = { instant: "second", exact: "millisecond" }[fineFormat(dates.map(Number))] ?? "time";
  const isNext = (date, place) => !sameDay(date, dates[place - 1] ?? dates.at(-1));
  const day = (place) => (!place || known(place) ? "day" : "date");
  let way = (date, place) => (midnight(date) ? day(place) : !isNext(date, place) ? inDay : !place || known(place) ? "daytime" : "datetime");
  if (dates.length === 1) way = () => format;
  else if (each(january)) way = () => "year";
  else if (each(first)) way = (date, place) => (january(date) ? "year" : known(place) ? "monthname" : "month");
  return dates.map((date, place) => ({ at: places[place], text: formats.time(date.getTime(), way(date, place)) + (clock.again?.(places[place]) ? ", again" : "") }));
}

/** The ticks of an axis of numbers, with labels. @param {import("../values.js").Way} way @returns {Tick[]} */
export function labelled(values, way, formats) {
  const texts = new Map(formats.ticks(values, way).map((text, place) => [values[place], text])); // two ticks may be the same double
  return [...texts].map(([at, text]) => ({ at, text }));
}

/** The ticks of a horizontal axis of numbers. Integers and years get whole numbers only, whatever their type is. */
export function numberTicks([low, high], width, formats, way) {
  const whole = way.type === "integer" || isCode(way);
  const count = Math.max(2, Math.round(width / 80));
  const step = tickStep(low, high, count);
  const found = step ? ticks(low, high, count).filter((at) => !whole || Number.isInteger(at)) : [];
  return found.length ? labelled(found, way, formats) : [{ at: low, text: formats.text(low, way) }];
}
