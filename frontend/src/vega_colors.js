// Gives names in a Vega-Lite chart the same colours as on the page, unless the chart sets a scale.

const CHANNELS = ["color", "fill", "stroke"];
const CHANGED = ["aggregate", "bin", "timeUnit", "scale"];
const ORDERS = new Set([undefined, "ascending", "descending"]);

function* encodings(node) {
  if (!node || typeof node !== "object") return;
  for (const [key, value] of Object.entries(node)) {
    if (key === "encoding") yield value;
    yield* encodings(value);
  }
}

/** Whether a channel shows the names of a column and does not set their colours. */
function isNamed(about) {
  return about?.field && ["nominal", "ordinal"].includes(about.type) && !CHANGED.some((key) => about[key] !== undefined) && ORDERS.has(about.sort);
}

/**
 * @param {any} definition a Vega-Lite specification
 * @param {Record<string, any>[]} records
 * @param {import("./dashboards/charts/rows.js").Rows} table
 * @param {(column: string, names: any[]) => (number | string)[]} colorsOf
 * @returns {any} the specification, with a scale of names if all its colours are for one column
 */
export function colored(definition, records, table, colorsOf) {
  const copy = structuredClone(definition);
  const channels = [...encodings(copy)].flatMap((encoding) => CHANNELS.map((name) => encoding[name])).filter((about) => about?.field);
  const [field, ...others] = new Set(channels.map((about) => about.field));
  if (others.length || !table.has(field) || !channels.every(isNamed)) return definition;
  const names = [...new Set(records.map((record) => record[field]))].sort((a, b) => (a === null) - (b === null) || (a < b ? -1 : 1));
  if (channels.some(({ sort }) => sort === "descending")) names.reverse();
  const range = colorsOf(field, names).map((color) => `var(--${color > 0 ? `data-${color}` : color || "accent"})`);
  for (const about of channels) about.scale = { domain: names, range };
  return copy;
}
