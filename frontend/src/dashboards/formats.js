// How values are written: Intl with the group's locale and currency. Making a formatter costs more than a hundred uses
// of it, so each is made once.

/** What stands for a value that is not there. */
export const NOTHING = "–";

const NUMERIC = new Set(["integer", "float", "decimal"]);
const BY_TYPE = { date: "date", datetime: "datetime", time: "text", boolean: "boolean" };
const MOMENT = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?/;
const WHOLE_MOMENT = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/;
const DAY_LETTERS = "2026-01-31".length;
const TIMES = {
  date: { dateStyle: "medium" },
  day: { day: "numeric", month: "short" },
  month: { month: "short", year: "numeric" },
  monthname: { month: "short" },
  year: { year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit" },
  datetime: { dateStyle: "medium", timeStyle: "short" },
};
const OWN_LOCALE = document.documentElement.lang || "en";
const OWN_CURRENCY = "USD";
const CURRENCY = /^[A-Z]{3}$/i;
const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** @typedef {{format?: string, digits?: number, type?: string | null}} Way how a value is written */

export function isNumeric(type) {
  return NUMERIC.has(type);
}

/** Whether a text is a day, a month or an instant as ISO 8601 writes them. */
export function isMoment(text) {
  return typeof text === "string" && WHOLE_MOMENT.test(text);
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

/** A number that is one, from JSON; decimals come as texts. NaN for nothing. */
export function number(value) {
  return value === null || value === undefined || value === "" ? NaN : Number(value);
}

function isLocale(text) {
  try {
    return Intl.getCanonicalLocales(text ?? []).length > 0;
  } catch {
    return false; // what Intl would throw at each number
  }
}

export class Formats {
  #made = new Map();

  /**
   * @param {string} [locale] BCP 47; of one that is none, the page's own
   * @param {string} [currency] ISO 4217; of one that is none, amounts have no sign
   */
  constructor(locale, currency) {
    this.locale = isLocale(locale) ? locale : OWN_LOCALE;
    this.currency = currency ? (CURRENCY.exec(currency)?.[0] ?? null) : OWN_CURRENCY;
  }

  /**
   * @param {any} value as JSON has it
   * @param {Way} way
   */
  text(value, way = {}) {
    if (value === null || value === undefined) return NOTHING;
    const format = way.format ?? (NUMERIC.has(way.type) ? "number" : (BY_TYPE[way.type] ?? "text"));
    if (format === "text") return String(value);
    if (format === "boolean") return value ? "Yes" : "No";
    if (format in TIMES) return this.time(value, format);
    const amount = Number(value);
    return Number.isFinite(amount) ? this.#amount(amount, format, way) : String(value);
  }

  /** A moment: an ISO text or milliseconds of UTC. */
  time(value, format) {
    const at = typeof value === "number" ? value : moment(value);
    if (Number.isNaN(at)) return String(value);
    return this.#formatter(Intl.DateTimeFormat, { ...TIMES[format], timeZone: "UTC" }).format(at);
  }

  /** The digits after the point that all these numbers need to be told apart, and no more: at most 2. */
  digits(values) {
    const amounts = values.map(number).filter(Number.isFinite).map(Math.abs);
    const largest = Math.max(0, ...amounts.slice(0, 1000));
    const most = largest >= 1000 ? 0 : largest >= 100 ? 1 : 2;
    const needed = (amount) => [0, 1, 2].find((count) => Math.abs(amount - Number(amount.toFixed(count))) < 1e-9) ?? 2;
    return Math.min(most, Math.max(0, ...amounts.slice(0, 1000).map(needed)));
  }

  /** A change in words: of numbers in percent, of shares in points, and beside what is below nought the difference. */
  change(now, before, way) {
    if (way.format !== "percent" && (now < 0 || before < 0)) return this.text(Math.abs(now - before), way);
    if (way.format === "percent") return `${this.#number({ maximumFractionDigits: 1 }, Math.abs(now - before) * 100)} points`;
    return this.#number({ style: "percent", maximumFractionDigits: 1 }, Math.abs(now / before - 1));
  }

  #amount(amount, format, way) {
    const digits = way.digits;
    const fixed = (count) => ({ minimumFractionDigits: count, maximumFractionDigits: count });
    if (format === "percent") return this.#number({ style: "percent", ...fixed(digits ?? 1) }, amount);
    if (format === "currency") return this.#currency(amount, digits);
    if (format === "compact") return this.#number({ notation: "compact", maximumFractionDigits: digits ?? 1 }, amount);
    if (format === "duration") return this.#duration(amount);
    if (format === "bytes") return this.#bytes(amount, digits);
    if (format === "integer") return this.#number(fixed(digits ?? 0), amount);
    if (format === "decimal") return this.#number(fixed(digits ?? 2), amount);
    return this.#number(fixed(digits ?? (way.type === "integer" ? 0 : this.digits([amount]))), amount);
  }

  #currency(amount, digits) {
    const options = this.currency ? { style: "currency", currency: this.currency } : {};
    const count = digits ?? (Math.abs(amount) >= 1000 ? 0 : this.currency ? undefined : 2);
    if (count !== undefined) Object.assign(options, { minimumFractionDigits: count, maximumFractionDigits: count });
    return this.#number(options, amount);
  }

  #duration(seconds) {
    const total = Math.round(Math.abs(seconds));
    const parts = { day: Math.floor(total / 86400), hour: Math.floor(total / 3600) % 24, minute: Math.floor(total / 60) % 60, second: total % 60 };
    const units = Object.entries(parts).filter(([, count]) => count).slice(0, 2);
    const text = (units.length ? units : [["second", 0]]).map(([unit, count]) => this.#number({ style: "unit", unit }, count)).join(" ");
    return seconds < 0 && total ? `−${text}` : text;
  }

  #bytes(amount, digits = 1) {
    const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.abs(amount) || 1) / 3)));
    return this.#number({ style: "unit", unit: BYTES[step], maximumFractionDigits: step ? digits : 0 }, amount / 1000 ** step);
  }

  #number(options, amount) {
    const zero = amount === 0 ? 0 : amount; // never a minus before a nought
    return this.#formatter(Intl.NumberFormat, options).format(zero).replace("-", "−");
  }

  #formatter(Kind, options) {
    const key = Kind.name + JSON.stringify(options);
    if (!this.#made.has(key)) this.#made.set(key, new Kind(this.locale, options));
    return this.#made.get(key);
  }
}
