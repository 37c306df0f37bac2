// Writes every value of the page: figures, tables, tooltips, axes, legends and labels. The way of a column (its type, format and digits) is
// found once. Intl writes numbers with the group's locale and currency. It gets them as strings if doubles would lose digits. Making a
// formatter takes longer than using it a hundred times, so each formatter is made once.

import { ALL_DIGITS, areLarge, digitsFor, TOO_SMALL } from "./digits.js";
import { compare, difference, isNumeric, number, scaleOf } from "./numbers.js";
import { DAY, fineFormat, isMoment, moment, TIMES } from "./times.js";

/** Shown for a missing value. */
const NOTHING = "–";

const BY_TYPE = { date: "date", datetime: "datetime", time: "text", boolean: "boolean" };
/** Names of columns with ids or years: `id`, `order_id`, `orderId`, `year`, `fiscal_year`, but not `paid` or `per_year`. */
const NAMED = /(?:^|[\W_])(id|year)$/i;
const NAMED_IN_CAMELS = /[a-z](ID|Id|Year)$/;
const A_RATE = /per[\W_]?year$/i;
const YEAR = /^[12]\d{3}(\.0*)?$/;
const OWN_LOCALE = document.documentElement.lang || "en";
const OWN_CURRENCY = "USD";
const CURRENCY = /^[A-Z]{3}$/i;
const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
const HOUR = 3_600_000;
const UNITS = Object.entries({ day: 86_400, hour: 3_600, minute: 60, second: 1 });
const PLAIN = new Set(["number", "integer", "decimal"]);
const SHORTENED = new Set([...PLAIN, "currency", "compact"]);
/** Whether numbers of this way name something, and are no amounts. @param {Way} [way] */
export const isCode = (way) => way?.format === "id" || way?.format === "year";
/** Characters that are invisible, or that are not visible as separate characters. */
const UNSEEN = / (?= )|[^\S ]|[\p{Cf}\p{M}]/gu;

/** Numbers from here on are written as powers of ten: in the short form, and doubles, whose further digits have no meaning. */
const TOO_LARGE = { compact: 1e15, standard: 1e21 };
const COMPACT_FROM = 10_000;
/** Three digits, or all before the point. With a word for 10,000, 23,309,911 is then written as 2331 and not as 2330. */
const SHORT = { notation: "compact", maximumSignificantDigits: 3, maximumFractionDigits: 0, roundingPriority: "morePrecision" };
/** A share that differs from 100 % by less than this number of percent counts as the whole, because sums of doubles are inexact. */
const EQUAL = 1e-9;
/** Durations below this number of seconds have a digit after the point. */
const FEW_SECONDS = 10;

/**
 * @typedef {object} Way how the values of a column are written
 * @property {string} [format] the author's format; by default, the type decides
 * @property {number} [digits] digits after the decimal point
 * @property {string | null} [type]
 * @property {string} [unit] the author's unit
 * @property {number} [step] the step between the labels of an axis, so that durations are written exactly
 * @property {Set<string>} [again] the times that the clock shows for the second time
 * @property {boolean} [along] whether the values are on an axis, where thousands are separated from 10,000 on
 */

function isLocale(text) {
  try {
    return Intl.getCanonicalLocales(text ?? []).length > 0;
  } catch {
    return false; // Intl would throw this error at each number
  }
}

const fixed = (count) => (count === undefined ? {} : { minimumFractionDigits: count, maximumFractionDigits: count });

export class Formats {
  #made = new Map();
  #cents;
  /** Hours without minutes have as many digits as with minutes: "06:00", but "6:00 AM". */
  #hour = { hour: "numeric" };

  /**
   * @param {string} [locale] BCP 47; if it is invalid, the page's locale is used
   * @param {string} [currency] ISO 4217; if it is invalid, amounts are written without a currency
   */
  constructor(locale, currency) {
    this.locale = isLocale(locale) ? locale : OWN_LOCALE;
    this.currency = currency ? (CURRENCY.exec(currency)?.[0] ?? null) : OWN_CURRENCY;
    if (/^\D*0/.test(this.time(6 * HOUR, "time"))) this.#hour.hour = "2-digit";
    this.#cents = this.#formatter(Intl.NumberFormat, this.#style("currency")).resolvedOptions().maximumFractionDigits;
  }

  /**
   * The way of a column: what its author sets, and otherwise what follows from its name, type and values.
   * @param {{name?: string, type?: string | null, format?: string, digits?: number, unit?: string, along?: boolean}} about
   * @param {any[]} values all values of the column, so that their decimal points are aligned
   * @returns {Way}
   */
  way({ name = "", type, format, digits, unit, along }, values) {
    const kind = format ?? coded(name, type, values) ?? (type === "datetime" && areDays(values) ? "date" : undefined);
    const again = type === "datetime" ? saidAgain(values) : undefined;
    return { format: kind, type, unit, along, again, digits: digits ?? this.#digitsOf(kind, type, values) };
  }

  #digitsOf(format, type, values) {
    if (format === "currency") return areLarge(values) ? 0 : this.currency ? this.#cents : 2;
    const plain = (format ?? "number") === "number";
    return plain && isNumeric(type) && type !== "integer" ? digitsFor(values) : undefined;
  }

  /**
   * @param {any} value a JSON value
   * @param {Way} [way]
   */
  text(value, way = {}) {
    return this.#written(value, way, "text");
  }

  /** The name of a mark, a series or a place on an axis that has this value. */
  name(value, way) {
    return value === null ? "(no value)" : value === "" ? "(empty)" : this.text(value, way);
  }

  /**
   * Names for distinct values that never look alike. If two would, numbers are written with all digits, and strings in quotes with every
   * character visible.
   * @param {any[]} values
   * @param {Way} way
   * @returns {(value: any) => string}
   */
  names(values, way) {
    const name = (value) => this.name(value, way);
    const exact = (value) => {
      const whole = value === null ? name(value) : this.whole(value, way);
      return whole === value && !isNumeric(way.type) ? JSON.stringify(value).replace(UNSEEN, escaped) : whole;
    };
    const found = new Map();
    let alike = [...new Set(values)];
    for (const write of [name, exact, String]) {
      for (const value of alike) found.set(value, write(value));
      const counts = countsOf([...found.values()].map(seen));
      alike = alike.filter((value) => counts.get(seen(found.get(value))) > 1 || !seen(found.get(value)));
    }
    return (value) => found.get(value) ?? name(value);
  }

  /**
   * A short text of a value, for places with little room.
   * @param {any} value
   * @param {Way} way
   */
  short(value, way) {
    return this.#written(value, way, "short");
  }

  /** The text with its unit, for places without an axis or title that names the unit. */
  measured(value, way) {
    const text = this.text(value, way);
    return way.unit && text !== NOTHING ? `${text} ${way.unit}` : text;
  }

  /** The text with all digits. */
  whole(value, way) {
    return this.#written(value, way, "whole");
  }

  /** The text, or its short form if the text does not fit. */
  fitting(value, way, fits) {
    const text = this.text(value, way);
    return fits(text) ? text : this.short(value, way);
  }

  #written(value, way, form) {
    if (value === null || value === undefined) return NOTHING;
    const format = way.format ?? (isNumeric(way.type) ? "number" : (BY_TYPE[way.type] ?? "text"));
    if (format === "text" || (format === "id" && !isNumeric(way.type))) return String(value);
    if (format === "boolean") return value ? "Yes" : "No";
    if (format in TIMES && !(isCode({ format }) && !isMoment(value))) {
      const time = this.time(value, (form === "whole" && format === "datetime" && fineFormat([moment(value)])) || format);
      return way.again?.has(value) ? `${time}, again` : time;
    }
    if (!Number.isFinite(number(value))) return String(value);
    return this.#amount(value, format, way, form);
  }

  /** The text of a moment, which is an ISO text or milliseconds of UTC. */
  time(value, format) {
    const at = typeof value === "number" ? value : moment(value);
    if (Number.isNaN(at)) return String(value);
    return this.#formatter(Intl.DateTimeFormat, { ...TIMES[format], ...(TIMES[format].hour && this.#hour), timeZone: "UTC" }, format).format(at);
  }

  /** The labels of an axis of numbers. They have as many digits as the step between them needs, so that each label is exact. */
  ticks(values, way) {
    const texts = this.#tickTexts(values, way);
    return new Set(texts).size === values.length ? texts : values.map((value) => this.whole(value, way));
  }

  #tickTexts(values, way) {
    const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 1;
    const large = Math.max(...values.map(Math.abs));
    const format = way.format ?? "number";
    if (isCode(way)) return values.map((value) => this.text(value, way));
    if (step < TOO_SMALL || format === "compact" || (large >= COMPACT_FROM && SHORTENED.has(format))) {
      const digits = Math.floor(Math.log10(large) + 1e-9) - Math.floor(Math.log10(step) + 1e-9) + 1;
      const notation = large < 10 * TOO_SMALL ? "scientific" : SHORTENED.has(format) ? "compact" : "standard";
      return values.map((value) => this.#number({ ...this.#style(format), notation, maximumSignificantDigits: Math.min(21, digits) }, value));
    }
    const unitOf = (value) => (format === "percent" ? 0.01 : format === "bytes" ? 1000 ** sizeOf(value) : 1);
    const digits = (value) => Math.max(0, -Math.floor(Math.log10(step / unitOf(value)) + 1e-9));
    return values.map((value) => this.text(value, { ...way, format, digits: digits(value), step }));
  }

  /** The size of a change: of numbers in percent, of shares in percentage points. If a value is negative, the difference. */
  change(now, before, way, form) {
    const signed = difference(now, before);
    const apart = typeof signed === "number" ? Math.abs(signed) : signed.replace("-", "");
    if (way.format === "percent") {
      const points = this.#number({ maximumFractionDigits: 1 }, apart * 100, 100);
      return `${points} ${points === "1" ? "point" : "points"}`;
    }
    if (compare(now, 0) < 0 || compare(before, 0) < 0) return this[form](apart, way);
    return this.#number({ style: "percent", maximumFractionDigits: 1 }, Number(apart) / Number(before));
  }

  /** The text of a share in percent. */
  share(value, digits = 1) {
    return this.text(value, { format: "percent", digits });
  }

  #amount(value, format, way, form) {
    const { digits } = way;
    if (isCode({ format })) return this.#number({ useGrouping: false, maximumFractionDigits: ALL_DIGITS }, value);
    if (format === "duration") return this.#duration(value, way, form);
    if (format === "bytes") return this.#bytes(value, digits, form);
    if (form === "short" && !isPlainToRead(value)) return this.#shortened(format, value);
    if (format === "compact" && form !== "whole") return this.#number({ notation: "compact", maximumFractionDigits: digits ?? 1 }, value);
    const count = digits ?? this.#ownDigits(format, way.type, value);
    const shown = form === "whole" ? { minimumFractionDigits: count, maximumFractionDigits: ALL_DIGITS } : fixed(count);
    if (form === "whole" && format === "currency" && scaleOf(value)) shown.minimumFractionDigits = this.#cents;
    return this.#number({ ...this.#style(format), ...shown, ...(way.along && { useGrouping: "min2" }) }, value);
  }

  /** The digits after the point of a single number. */
  #ownDigits(format, type, value) {
    if (format === "percent") return 1;
    if (format === "decimal") return 2;
    if (format === "currency") return this.#digitsOf(format, type, [value]);
    return format === "number" && type !== "integer" ? digitsFor([value]) : 0;
  }

  #style(format) {
    if (format === "percent") return { style: "percent" };
    return format === "currency" && this.currency ? { style: "currency", currency: this.currency } : {};
  }

  /**
   * Three digits with a word for the size, such as "million". If the language has no such word, the number is written as an integer,
   * because zeros would look like exact digits.
   */
  #shortened(format, value) {
    const options = { ...this.#style(format), ...SHORT };
    const hasWord = this.#formatter(Intl.NumberFormat, options).formatToParts(value).some(({ type }) => type === "compact");
    return this.#number(hasWord || Math.abs(Number(value)) < 1 ? options : { ...this.#style(format), maximumFractionDigits: 0 }, value);
  }

  #duration(value, { digits, step }, form) {
    const seconds = Number(value);
    const size = Math.abs(seconds);
    if (form === "whole") return this.#number({ style: "unit", unit: "second", maximumFractionDigits: ALL_DIGITS }, value);
    if (size < (digits ? 60 : FEW_SECONDS)) return this.#unit("second", value, digits ?? 1);
    const [[unit, first], [, next] = [unit, 1]] = UNITS.filter(([, each]) => size >= each);
    if (form === "short") return this.#unit(unit, seconds / first, 1);
    const finest = Math.min(next, UNITS.find(([, each]) => each <= step)?.[1] ?? next);
    let rest = Math.round(size / finest) * finest;
    const found = UNITS.flatMap(([name, each]) => {
      const count = Math.floor(rest / each);
      rest -= count * each;
      return count ? this.#unit(name, count) : [];
    });
    return `${seconds < 0 ? "−" : ""}${found.join(" ")}`;
  }

  #unit(unit, count, digits = 0) {
    return this.#number({ style: "unit", unit, maximumFractionDigits: digits, ...shortFrom(count) }, count);
  }

  #bytes(value, digits, form) {
    if (form === "whole") return this.#number({ style: "unit", unit: "byte", unitDisplay: "long", maximumFractionDigits: ALL_DIGITS }, value);
    const step = sizeOf(value);
    const amount = Number(value) / 1000 ** step;
    return this.#unit(BYTES[step], amount, digits ?? (step ? 1 : 0));
  }

  /** Writes a number. Never writes a minus before 0, 0 or 100 % for another number, or more digits than the number has. */
  #number(options, value, hundred = options.style === "percent" ? 1 : NaN) {
    const size = Math.abs(Number(value)) * (options.style === "percent" ? 100 : 1);
    const { minimumFractionDigits, maximumFractionDigits = options.style === "currency" ? this.#cents : 0, roundingPriority, ...rest } = options;
    const fromWhole = Math.abs(Math.abs(value) / hundred - 1) * 200;
    if (fromWhole > EQUAL && fromWhole < 10 ** -maximumFractionDigits) options = { ...options, maximumFractionDigits: Math.ceil(-Math.log10(fromWhole)) };
    const { notation = "standard", maximumSignificantDigits: most } = rest;
    const whole = maximumFractionDigits === ALL_DIGITS;
    if (size === 0) return this.#formatter(Intl.NumberFormat, { ...options, notation: "standard" }).format(0);
    if (size < (most || (whole && typeof value === "number") ? TOO_SMALL : 0.5 * 10 ** -maximumFractionDigits)) {
      options = { ...rest, maximumSignificantDigits: whole ? 17 : (most ?? 2), notation: size < TOO_SMALL ? "scientific" : notation };
    } else if (size >= TOO_LARGE[notation] && !(typeof value === "string" && notation === "standard")) {
      options = { ...rest, maximumSignificantDigits: most ?? (notation === "standard" ? 17 : 3), notation: "scientific" };
    }
    return this.#formatter(Intl.NumberFormat, options).format(value).replaceAll("-", "−");
  }

  #formatter(Kind, options, key = Kind.name + JSON.stringify(options)) {
    if (!this.#made.has(key)) this.#made.set(key, new Kind(this.locale, options));
    return this.#made.get(key);
  }
}

/** A text as it looks. A letter and a separate accent become one character, and several spaces become one, as browsers draw them. */
const seen = (text) => text.normalize().replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim();
const escaped = (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`;

function countsOf(texts) {
  const found = new Map();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return found;
}

/** Whether the name of a column says that its numbers are ids or years. A year may also be a string, as in SQLite. */
function coded(name, type, values) {
  const word = (NAMED.exec(name) ?? NAMED_IN_CAMELS.exec(name))?.[1].toLowerCase();
  const are = (fits) => values.every((value) => value === null || fits(value));
  if (word === "id") return isNumeric(type) && are((value) => scaleOf(value) === 0) ? "id" : undefined;
  return word && !A_RATE.test(name) && are((value) => YEAR.test(value)) ? "year" : undefined;
}

/** Whether all times are the start of a day, as in the result of a query that truncates times to days. */
function areDays(values) {
  return values.every((value) => value === null || moment(value) % DAY === 0);
}

/** The times that the clock shows for the second time after it was put back. */
function saidAgain(values) {
  const first = {};
  for (const value of values) first[moment(value)] = Math.min(first[moment(value)] ?? Infinity, Date.parse(value));
  return new Set(values.filter((value) => Date.parse(value) > first[moment(value)]));
}

/** The unit for a number of bytes, as a place in BYTES. */
function sizeOf(value) {
  return Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.abs(Number(value)) || 1) / 3 + 1e-9)));
}

/** Whether a number is easy to read without shortening. */
function isPlainToRead(value) {
  const size = Math.abs(Number(value));
  return size === 0 || (size >= 1 / COMPACT_FROM && size < 1000);
}

/** The options that shorten a count which is too large to be read digit by digit. */
function shortFrom(amount) {
  return Math.abs(amount) < COMPACT_FROM ** 2 ? {} : SHORT;
}
