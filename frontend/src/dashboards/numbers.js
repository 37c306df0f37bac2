// Exact arithmetic on numbers as JSON brings them: doubles, and texts of those that no double holds.

const NUMERIC = new Set(["integer", "float", "decimal"]);
const WRITTEN = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;
/** Doubles of this size are shown as powers of ten: no digit of their sum is lost. */
const NO_MORE_DIGITS = 1e21;

/** @typedef {number | string | null | undefined} Amount */

export function isNumeric(type) {
  return NUMERIC.has(type);
}

/** The nearest double of an amount: what marks are placed by. NaN for nothing, and for what has no place. */
export function number(value) {
  const found = value === null || value === undefined || value === "" ? NaN : Number(value);
  return Number.isFinite(found) ? found : NaN;
}

/** How far a number lies from the low to the high end of a domain, 0 to 1, also where the domain is wider than any double. */
export function shareOf(value, low, high) {
  const size = high - low;
  return Number.isFinite(size) ? (value - low) / size : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** Its digits as a whole number, and how many of them stand after the point. */
function parts(value) {
  const [, sign, whole, fraction, exponent = 0] = WRITTEN.exec(String(value)) ?? WRITTEN.exec(String(Number(value)));
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

/** How many digits after the point an amount needs to be written whole. */
export function scaleOf(value) {
  const [, , , fraction, exponent = 0] = WRITTEN.exec(String(value)) ?? [, , , ""];
  return Math.max(0, fraction.replace(/0+$/, "").length - Number(exponent));
}

/**
 * The sum of those that are there, to the last digit where a double would lose some; null where none is.
 * @param {Amount[]} values
 * @returns {number | string | null}
 */
export function sum(values) {
  const there = values.filter((value) => !Number.isNaN(number(value)));
  if (there.length < 2) return there[0] ?? null;
  const near = there.reduce((total, value) => total + Number(value), 0);
  const lost = Math.abs(near) > Number.MAX_SAFE_INTEGER && Math.abs(near) < NO_MORE_DIGITS;
  if (!lost && there.every((value) => typeof value === "number")) return near;
  const all = there.map(parts);
  const scale = Math.max(0, ...all.map((each) => each.scale));
  const total = all.reduce((before, { digits, scale: own }) => before + digits * 10n ** BigInt(scale - own), 0n);
  const digits = String(total < 0n ? -total : total).padStart(scale + 1, "0");
  return `${total < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${scale ? `.${digits.slice(-scale)}` : ""}`;
}

/** How far one amount is above another one. */
export function difference(one, other) {
  const text = String(other);
  return sum([one, typeof other === "number" ? -other : text.startsWith("-") ? text.slice(1) : `-${text}`]);
}

/** Below, at or above 0, as one amount is less than, equal to or greater than another one. */
export function compare(one, other) {
  return Number(one) - Number(other) || Number(difference(one, other));
}
