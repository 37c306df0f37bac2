// Exact arithmetic on numbers from JSON: doubles, and strings for numbers that no double can hold.

const NUMERIC = new Set(["integer", "float", "decimal"]);
const WRITTEN = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;
/** A double of this size or larger is shown as a power of ten, so its sum needs no exact digits. */
const NO_MORE_DIGITS = 1e21;

/** @typedef {number | string | null | undefined} Amount */

export function isNumeric(type) {
  return NUMERIC.has(type);
}

/** The nearest double of an amount, which is used to place marks. NaN if there is no amount, or if it is not finite. */
export function number(value) {
  const found = value === null || value === undefined || value === "" ? NaN : Number(value);
  return Number.isFinite(found) ? found : NaN;
}

/** The position of a number in a domain, as a share from 0 to 1. This also works if the domain is wider than the largest double. */
export function shareOf(value, low, high) {
  const size = high - low;
  return Number.isFinite(size) ? (value - low) / size : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** The digits of an amount as an integer, and the number of digits after the decimal point. */
function parts(value) {
  const [, sign, whole, fraction, exponent = 0] = WRITTEN.exec(String(value)) ?? WRITTEN.exec(String(Number(value)));
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

/** The number of digits after the decimal point that an amount needs. */
export function scaleOf(value) {
  const [, , , fraction, exponent = 0] = WRITTEN.exec(String(value)) ?? [, , , ""];
  return Math.max(0, fraction.replace(/0+$/, "").length - Number(exponent));
}

/**
 * The sum of the values, without those that are missing. It is exact even if doubles would lose digits. Null if all values are missing.
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

/** The difference between two amounts. */
export function difference(one, other) {
  const text = String(other);
  return sum([one, typeof other === "number" ? -other : text.startsWith("-") ? text.slice(1) : `-${text}`]);
}

/** Negative, 0 or positive, if the first amount is less than, equal to or greater than the second. */
export function compare(one, other) {
  return Number(one) - Number(other) || Number(difference(one, other));
}
