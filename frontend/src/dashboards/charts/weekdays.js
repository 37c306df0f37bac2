// Recognises the names of weekdays, which a heat map may have on one axis and weeks on the other.

import { DAY } from "../times.js";

/** The seven days of a week. */
const WEEK = [1, 2, 3, 4, 5, 6, 7].map((day) => Date.UTC(2026, 0, day));

/** The names of weekdays, in English and in the page's language. */
export function weekdays(locale) {
  const namesIn = (each, weekday) => {
    const { format } = new Intl.DateTimeFormat(each, { weekday, timeZone: "UTC" });
    return WEEK.map((day) => [format(day), day]);
  };
  return new Map(["en", locale].flatMap((each) => ["short", "long"].flatMap((weekday) => namesIn(each, weekday))));
}

/** Returns a function that finds, for a bucket, the period from its first to its last day with this weekday. */
export function daysOf(first) {
  if (!first) return undefined;
  const away = (one, other) => ((((one - other) / DAY) % 7) + 7) % 7 * DAY;
  return (start, end) => [start + away(first, start), end - away(end - DAY, first)];
}
