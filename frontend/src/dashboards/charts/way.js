// How the values of a chart are written: as the author says, else with as many digits as all of them need.

import { isNumeric } from "../formats.js";

const PLAIN = new Set(["number", undefined]);

/**
 * @param {any} view the panel's view
 * @param {import("./rows.js").Rows} rows
 * @param {string[]} measures
 * @param {import("../formats.js").Formats} formats
 * @returns {import("../formats.js").Way}
 */
export function wayOf({ format, digits }, rows, measures, formats) {
  const type = rows.type(measures[0]);
  return { format, type, digits: digits ?? columnDigits(format, type, measures.flatMap((name) => rows.values(name)), formats) };
}

/** The digits of a column, so that its points stand below one another; undefined where its format knows them. */
export function columnDigits(format, type, values, formats) {
  return PLAIN.has(format) && isNumeric(type) && type !== "integer" ? formats.digits(values) : undefined;
}
