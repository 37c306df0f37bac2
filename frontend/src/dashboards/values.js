// How every value of the page is written: figures, tables, tooltips, axes, legends and labels. What a column is (its
// type, its format, its digits) is found once, as its way; Intl writes numbers from their own digits, with the group's
// locale and currency. Making a formatter costs more than a hundred uses of it, so each is made once.

import { ALL_DIGITS, areLarge, digitsFor, TOO_SMALL } from "./digits.js";
import { compare, difference, isNumeric, number, scaleOf } from "./numbers.js";
import { DAY, fineFormat, isMoment, moment, TIMES } from "./times.js";

/** What stands for a value that is not there. */
const NOTHING = "–";

const BY_TYPE = { date: "date", datetime: "datetime", time: "text", boolean: "boolean" };
/** An id or a year by its name: `id`, `order_id`, `orderId`, `year`, `fiscal_year`; not `paid`, not `per_year`. */
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
/** Signs that nobody sees, or not as signs of their own. */
const UNSEEN = / (?= )|[^\S ]|[\p{Cf}\p{M}]/gu;

/** From here on numbers are written as powers of ten: a short one, and a double, whose further digits mean nothing. */
const TOO_LARGE = { compact: 1e15, standard: 1e21 };
const COMPACT_FROM = 10_000;
/** Three digits, or more before the point: 23,309,911 is 2331 of a ten thousand, not 2330. */
const SHORT = { notation: "compact", maximumSignificantDigits: 3, maximumFractionDigits: 0, roundingPriority: "morePrecision" };
/** A share that differs by less percent is the whole: sums of doubles do. */
const EQUAL = 1e-9;
/** Below it a duration has a digit after the point. */
const FEW_SECONDS = 10;

/**
 * @typedef {object} Way how the values of a column are written
 * @property {string} [format] as the author says it; where it is absent, the type says it
 * @property {number} [digits] after the point
 * @property {string | null} [type]
 * @property {string} [unit] as the author says it
 * @property {number} [step] between the labels of an axis, which a duration is written whole for
 * @property {Set<string>} [again] the times that the clock says for the second time
 * @property {boolean} [along] whether it is an axis, whose whole numbers have thousands from 10,000 on
 */

function isLocale(text) {
  try {
    return Intl.getCanonicalLocales(text ?? []).length > 0;
  } catch {
    return false; // what Intl would throw at each number
  }
}

const fixed = (count) => (count === undefined ? {} : { minimumFractionDigits: count, maximumFractionDigits: count });

export class Formats {
  #made = new Map();
  #cents;
  /** As a whole time has it: "06:00", but "6:00 AM". */
  #hour = { hour: "numeric" };

  /**
   * @param {string} [locale] BCP 47; of one that is none, the page's own
   * @param {string} [currency] ISO 4217; of one that is none, amounts have no sign
   */
  constructor(locale, currency) {
    this.locale = isLocale(locale) ? locale : OWN_LOCALE;
    this.currency = currency ? (CURRENCY.exec(currency)?.[0] ?? null) : OWN_CURRENCY;
    if (/^\D*0/.test(this.time(6 * HOUR, "time"))) this.#hour.hour = "2-digit";
    this.#cents = this.#formatter(Intl.NumberFormat, this.#style("currency")).resolvedOptions().maximumFractionDigits;
  }

  /**
   * What a column is, by what its author says, else by its name, its type and its values.
   * @param {{name?: string, type?: string | null, format?: string, digits?: number, unit?: string, along?: boolean}} about
   * @param {any[]} values all of them, so that its points stand below one another
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
   * @param {any} value as JSON has it
   * @param {Way} [way]
   */
  text(value, way = {}) {
    return this.#written(value, way, "text");
  }

  /** The value as a name of a mark, a series or a place of an axis. */
  name(value, way) {
    return value === null ? "(no value)" : value === "" ? "(empty)" : this.text(value, way);
  }

  /**
   * The names of different values, which never look alike: those that would have all their digits, or quotes in which
   * every sign can be seen.
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
   * The same where there is little room.
   * @param {any} value
   * @param {Way} way
   */
  short(value, way) {
    return this.#written(value, way, "short");
  }

  /** The text with its unit, where no axis or title is near that says it. */
  measured(value, way) {
    const text = this.text(value, way);
    return way.unit && text !== NOTHING ? `${text} ${way.unit}` : text;
  }

  /** The same with each of its digits. */
  whole(value, way) {
    return this.#written(value, way, "whole");
  }

  /** The text, or a short one where that does not fit. */
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

  /** A moment: an ISO text or milliseconds of UTC. */
  time(value, format) {
    const at = typeof value === "number" ? value : moment(value);
    if (Number.isNaN(at)) return String(value);
    return this.#formatter(Intl.DateTimeFormat, { ...TIMES[format], ...(TIMES[format].hour && this.#hour), timeZone: "UTC" }, format).format(at);
  }

  /** The labels of an axis of numbers: as many digits as the step between them needs, so that each is exact. */
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

  /** A change in words: of numbers in percent, of shares in points, and beside what is below nought the difference. */
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

  /** A part of a whole, in percent. */
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

  /** The digits after the point of one number by itself. */
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

  /** Three digits and a word for its size; in a language that has no word for it, the whole number: no nought is made up. */
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

  /** Never a minus before a nought, a nought or 100 % for what is none, or more digits than a number has. */
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

/** A text as it looks: an accent that is a sign of its own is none, and a browser draws several spaces as one. */
const seen = (text) => text.normalize().replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim();
const escaped = (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`;

function countsOf(texts) {
  const found = new Map();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return found;
}

/** What a column is by its name, where its numbers are no amounts. A year may be a text, as SQLite writes it. */
function coded(name, type, values) {
  const word = (NAMED.exec(name) ?? NAMED_IN_CAMELS.exec(name))?.[1].toLowerCase();
  const are = (fits) => values.every((value) => value === null || fits(value));
  if (word === "id") return isNumeric(type) && are((value) => scaleOf(value) === 0) ? "id" : undefined;
  return word && !A_RATE.test(name) && are((value) => YEAR.test(value)) ? "year" : undefined;
}

/** Whether all times are the beginnings of days, as those are that a query made of others. */
function areDays(values) {
  return values.every((value) => value === null || moment(value) % DAY === 0);
}

/** The times that the clock says for the second time, where it has been put back between them. */
function saidAgain(values) {
  const first = {};
  for (const value of values) first[moment(value)] = Math.min(first[moment(value)] ?? Infinity, Date.parse(value));
  return new Set(values.filter((value) => Date.parse(value) > first[moment(value)]));
}

/** The unit of an amount of bytes: its place in BYTES. */
function sizeOf(value) {
  return Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.abs(Number(value)) || 1) / 3 + 1e-9)));
}

/** Whether a number is short as it is. */
function isPlainToRead(value) {
  const size = Math.abs(Number(value));
  return size === 0 || (size >= 1 / COMPACT_FROM && size < 1000);
}

/** A count that is too large to be read one digit by another. */
function shortFrom(amount) {
  return Math.abs(amount) < COMPACT_FROM ** 2 ? {} : SHORT;
}
