// How many digits after the point the numbers of a column need.

import { number, scaleOf } from "./numbers.js";

/** Smaller numbers are written as powers of ten. */
export const TOO_SMALL = 1e-6;
/** Digits that a decimal may bring along; with more of them it was computed, and is rounded as a double is. */
const MOST_BROUGHT = 6;
/** Every digit: of a decimal up to 100 after the point, where a browser knows ECMAScript 2023. */
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
 * The digits after the point that all these numbers need to be told apart, and no more. What a decimal brings along
 * is kept; a double, and a decimal that was computed, has at most 2, or 2 that say something where all are small.
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

/** The digits after the point that a double may have: of a small one those of which two are not nought. */
function mostOf(amount) {
  return amount >= TOO_SMALL && amount < 0.1 ? 1 - Math.floor(Math.log10(amount)) : 2;
}
