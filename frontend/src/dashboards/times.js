// The texts that ISO 8601 writes moments with, and how a page may write them.

const MOMENT = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?/;
const WHOLE_MOMENT = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/;
export const DAY = 86_400_000;
const DAY_LETTERS = "2026-01-31".length;

/** The options of Intl, by format. */
export const TIMES = {
  date: { dateStyle: "medium" },
  day: { day: "numeric", month: "short" },
  month: { month: "short", year: "numeric" },
  monthname: { month: "short" },
  year: { year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit" },
  second: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
  datetime: { dateStyle: "medium", timeStyle: "short" },
  instant: { dateStyle: "medium", timeStyle: "medium" },
};

/** Whether a moment, in milliseconds, lies within a minute. */
export const hasSeconds = (at) => at % 60_000 !== 0;

/** Whether two moments are of one day. */
export function sameDay(one, other) {
  return Math.floor(one / DAY) === Math.floor(other / DAY);
}

/** Whether two moments are of one year. */
export function sameYear(one, other) {
  return new Date(one).getUTCFullYear() === new Date(other).getUTCFullYear();
}

/** Whether a text is a day, a month or an instant as ISO 8601 writes them, and one that exists: February 30 does not. */
export function isMoment(text) {
  const at = typeof text === "string" && WHOLE_MOMENT.test(text) ? moment(text) : NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, DAY_LETTERS));
}

/**
 * The wall clock of an ISO text as milliseconds of UTC; its zone is left alone, so that a day stays that day.
 * @returns {number} NaN for what is none
 */
export function moment(text) {
  if (text?.length === DAY_LETTERS) return Date.parse(text);
  const parts = MOMENT.exec(text);
  if (!parts) return NaN;
  const [, year, month, day = 1, hour = 0, minute = 0, second = 0, fraction = 0] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second, Math.round(fraction * 1000));
}
