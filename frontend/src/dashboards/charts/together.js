// Combines several values into one: rows at the same position, groups beyond a limit, parts of a stack.

import { compare, number, sum } from "../numbers.js";

/** Whether the values of a panel may be added. Only then may they have totals, be stacked, or be parts of a whole. */
export const adds = ({ aggregate = "sum" }) => aggregate === "sum";

/**
 * @param {import("../numbers.js").Amount[]} values
 * @param {"sum" | "mean" | "max" | "none"} [aggregate] `none`: the first value
 * @returns {import("../numbers.js").Amount} null if there is no value
 */
export function together(values, aggregate = "sum") {
  const there = values.filter((value) => !Number.isNaN(number(value)));
  if (aggregate === "none" || there.length < 2) return there[0] ?? null;
  if (aggregate === "max") return there.reduce((a, b) => (compare(a, b) < 0 ? b : a));
  return aggregate === "mean" ? number(sum(there)) / there.length : sum(there);
}

/**
 * Where each part of a stack begins and ends: parts go upwards from zero, negative ones downwards. A part without a value keeps its place
 * between the others.
 * @param {(number | null)[]} values
 * @param {boolean} share
 * @returns {{low: number, high: number | null, above: number[], below: number[]}[]} `high`: null if no part has a value
 */
export function stacked(values, share) {
  const whole = share ? values.reduce((total, value) => total + value, 0) : 1;
  const none = !whole || values.every((value) => value === null);
  let [top, bottom] = [0, 0];
  return values.map((value) => {
    const part = none ? 0 : value / whole;
    const above = [top, (top += Math.max(0, part))];
    const below = [(bottom += Math.min(0, part)), bottom - Math.min(0, part)];
    const [low, high] = part < 0 ? below : above;
    return { low, high: none ? null : high, above, below };
  });
}
