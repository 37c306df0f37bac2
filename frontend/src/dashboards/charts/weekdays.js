// Weekdays by their names, which a heat map has beside weeks.

import { DAY } from "../times.js";

/** The days of one. */
const WEEK = [1, 2, 3, 4, 5, 6, 7].map((day) => Date.UTC(2026, 0, day));

/** The names of weekdays, in English and in the page's language. */
export function weekdays(locale) {
  const namesIn = (each, weekday) => {
    const { format } = new Intl.DateTimeFormat(each, { weekday, timeZone: "UTC" });
    return WEEK.map((day) => [format(day), day]);
  };
  return new Map(["en", locale].flatMap((each) => ["short", "long"].flatMap((weekday) => namesIn(each, weekday))));
}

/** Of a name of a weekday: from when to when a bucket has days of that name. */
export function daysOf(first) {
  if (!first) return undefined;
  const away = (one, other) => ((((one - other) / DAY) % 7) + 7) % 7 * DAY;
  return (start, end) => [start + away(first, start), end - away(end - DAY, first)];
}
