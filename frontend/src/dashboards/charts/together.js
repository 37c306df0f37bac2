// Several values that become one: rows of one place, groups beyond a limit, parts on top of one another.

import { compare, number, sum } from "../numbers.js";

/** Whether the values of a panel add up: only those make totals, stacks and parts of a whole. */
export const adds = ({ aggregate = "sum" }) => aggregate === "sum";

/**
 * @param {import("../numbers.js").Amount[]} values
 * @param {"sum" | "mean" | "max" | "none"} [aggregate] none: the first of them
 * @returns {import("../numbers.js").Amount} null where none is there
 */
export function together(values, aggregate = "sum") {
  const there = values.filter((value) => !Number.isNaN(number(value)));
  if (aggregate === "none" || there.length < 2) return there[0] ?? null;
  if (aggregate === "max") return there.reduce((a, b) => (compare(a, b) < 0 ? b : a));
  return aggregate === "mean" ? number(sum(there)) / there.length : sum(there);
}

/**
 * From where to where each part of one place goes: upwards from zero, and downwards where it is negative. A part of
 * nothing keeps its place between the others.
 * @param {(number | null)[]} values
 * @param {boolean} share
 * @returns {{low: number, high: number | null, above: number[], below: number[]}[]} `high`: null where there is nothing
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
