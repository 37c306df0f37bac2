// Finds how many digits after the decimal point the numbers of a column need.

import { number, scaleOf } from "./numbers.js";

/** Smaller numbers are written as powers of ten. */
export const TOO_SMALL = 1e-6;
/** A decimal keeps up to this many digits after the point. If it has more, it was probably computed, and is rounded like a double. */
const MOST_BROUGHT = 6;
/** Enough digits for every number. Browsers that know ECMAScript 2023 can write 100 digits after the point. */
export const ALL_DIGITS = [100, 20].find(isDigits);

function isDigits(maximumFractionDigits) {
  try {
    return Boolean(new Intl.NumberFormat("en", { maximumFractionDigits }));
  } catch {
    return false;
  }
}

/** Whether each number is 1,000 or more, whatever its sign. */
export function areLarge(values) {
  const there = values.map(number).filter((value) => !Number.isNaN(value));
  return there.length > 0 && there.every((value) => Math.abs(value) >= 1000);
}

/**
 * The digits after the point that these numbers need to differ from each other. A decimal keeps its digits. A double, or a decimal that was
 * computed, gets at most 2, or 2 significant ones if all numbers are small.
 */
export function digitsFor(values) {
  let largest = 0;
  let brought = 0;
  let needed = 0;
  for (const value of values) {
    const amount = Math.abs(number(value));
    if (!Number.isFinite(amount)) continue;
    largest = Math.max(largest, amount);
    if (typeof value === "string") brought = Math.max(brought, scaleOf(value));
    const most = mostOf(amount);
    while (needed < most && Math.abs(amount - Number(amount.toFixed(needed))) > 1e-9 * Math.min(1, amount)) needed += 1;
  }
  if (brought && brought <= MOST_BROUGHT) return brought;
  return Math.min(needed, largest >= 1000 ? 0 : largest >= 100 ? 1 : mostOf(largest));
}

/** The most digits after the point that a double may have. A small one gets two significant digits. */
function mostOf(amount) {
  return amount >= TOO_SMALL && amount < 0.1 ? 1 - Math.floor(Math.log10(amount)) : 2;
}
