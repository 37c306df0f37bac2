// The texts of a Vega-Lite chart. Values are written from the rows by the formats of the page, never from the double that places a mark.
// Vega calculates with doubles, so calculated values are written as doubles.

import { expressionFunction } from "vega";

import { compare, isNumeric, number, scaleOf } from "./dashboards/numbers.js";
import { DAY, moment } from "./dashboards/times.js";

/** The key under which a view has the data for its texts. */
export const TEXTS = Symbol("texts");
export const WRITES = { customFormatTypes: true, numberFormatType: "written" };

const GUIDES = { x: "axis", y: "axis", ...Object.fromEntries(["color", "fill", "stroke", "size", "shape", "opacity"].map((channel) => [channel, "legend"])) };
const LABELS = new Set(["text", "tooltip"]);
const CHANGED = ["aggregate", "bin", "timeUnit", "stack"];
const NAMES = new Set([undefined, "nominal", "ordinal"]);
/** A format of d3: currency, thousands, digits, kind. Other formats round to digits that a double has. */
const FORMAT = /^(\$?)(,?)(?:\.(\d+))?([df%])$/;
/** The last entry of a legend, with which Vega stands for the entries that it does not list. Its value is the first of these. */
const MORE = /^…\d+ entries$/;
const FEW_DIGITS = 6;
const DIGITS_OF_DOUBLES = 12;

/** A number that no double can hold. The nearest double places its mark, but its text is exact. */
class Exact extends Number {
  constructor(text) {
    super(text);
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

/** The definitions of all channels of a chart, which name columns. */
function* channels(node) {
  if (!node || typeof node !== "object") return;
  for (const [key, value] of Object.entries(node)) {
    if (key === "encoding") yield* Object.values(value).flat();
    yield* channels(value);
  }
}

/** The rows as objects. A name, such as an id, stays a string if no double can hold it. */
export function recordsOf(table, definition) {
  const used = [...channels(definition)].filter((each) => each?.field);
  const isName = (name) => used.some(({ field }) => field === name) && used.every(({ field, type, aggregate }) => field !== name || (NAMES.has(type) && !aggregate));
  const numeric = table.columns.filter(({ type }) => isNumeric(type)).map(({ name }) => ({ name, lost: isName(name) ? String : (text) => new Exact(text) }));
  return table.rows.map((_, row) => {
    const record = table.record(row);
    for (const { name, lost } of numeric) {
      const value = record[name];
      if (typeof value === "string") record[name] = Number.isFinite(number(value)) && compare(value, Number(value)) ? lost(value) : Number(value);
    }
    return record;
  });
}

/** The specification, in which each channel of a column names the column whose values it writes. */
export function said(node, table) {
  if (!node || typeof node !== "object") return node;
  if (Array.isArray(node)) return node.map((each) => said(each, table));
  const told = ([key, value]) => [key, key === "encoding" ? encoded(value, table) : said(value, table)];
  return Object.fromEntries(Object.entries(node).map(told));
}

function encoded(encoding, table) {
  const channel = (name, about) => (Array.isArray(about) ? about.map((each) => written(name, each, table)) : written(name, about, table));
  return Object.fromEntries(Object.entries(encoding).map(([name, about]) => [name, channel(name, about)]));
}

function written(channel, about, table) {
  if (!table.has(about?.field) || about.type === "temporal" || CHANGED.some((key) => about[key])) return about;
  const how = { format: about.field, formatType: "written" };
  const isFree = (place) => place !== null && place?.format === undefined && place?.formatType === undefined;
  const guide = GUIDES[channel];
  if (LABELS.has(channel)) return isFree(about) ? { ...about, ...how } : about;
  return guide && isFree(about[guide]) ? { ...about, [guide]: { ...about[guide], ...how } } : about;
}

/** The compiled specification, in which the labels of axes and legends are written differently from values. */
export function inGuides(spec) {
  return JSON.parse(JSON.stringify(spec).replaceAll("written(datum.value", "tick(datum.label, datum.value"));
}

function columnOf({ formats, table }, name, along) {
  return table.has(name) ? table.way(formats, [name], { along }) : null;
}

function text(texts, value, column) {
  const { formats } = texts;
  if (value instanceof Date) return timeOf(texts, value);
  if (value instanceof Exact) return formats.text(value.text, columnOf(texts, column) ?? { type: "decimal" });
  if (typeof value !== "number") return formats.name(value ?? null, columnOf(texts, column) ?? {});
  const known = columnOf(texts, column);
  const way = known ?? formats.way({ type: "float" }, [value]);
  return known || Math.abs(value) <= Number.MAX_SAFE_INTEGER ? formats.text(value, way) : formats.short(value, way);
}

function timeOf({ formats, inUtc }, date) {
  const at = date - (inUtc ? 0 : date.getTimezoneOffset() * 60_000);
  return formats.time(at, at % DAY ? "datetime" : "date");
}

/** The label of a place on an axis has the digits that the place needs, not the digits of the values. */
function tick(texts, label, value, column) {
  const { formats } = texts;
  if (MORE.test(label)) return label;
  const way = columnOf(texts, column, true) ?? { along: true };
  if (typeof value !== "number") return formats.name(value ?? null, way);
  const digits = scaleOf(Number(value.toPrecision(DIGITS_OF_DOUBLES)));
  return formats.text(value, { ...way, type: "float", digits: digits > FEW_DIGITS ? undefined : digits });
}

const register = (name, write) => {
  const own = expressionFunction(name);
  expressionFunction(name, function (...given) {
    return write(this.context.dataflow[TEXTS], () => own.apply(this, given), ...given);
  });
};
register("written", (texts, _, value, column) => text(texts, value, column));
register("tick", (texts, _, label, value, column) => tick(texts, label, value, column));
register("toNumber", (_, own, value) => (value instanceof Exact ? value : own()));
register("format", ({ formats }, own, value, specifier) => {
  const [known, money, thousands, digits, kind] = (value instanceof Exact && FORMAT.exec(specifier)) || [];
  if (!known) return own();
  const after = kind === "d" ? 0 : Number(digits ?? FEW_DIGITS);
  const format = money ? "currency" : kind === "%" ? "percent" : thousands || after ? "number" : "id";
  return formats.text(value.text, { format, digits: after });
});
/** Keeps the time that a text shows. Vega would read a date as midnight in UTC and write it in the browser's time zone. */
register("toDate", ({ inUtc }, own, value) => {
  const at = typeof value === "string" ? moment(value) : NaN;
  if (Number.isNaN(at)) return own();
  const wall = new Date(at).toISOString();
  return new Date(inUtc ? wall : wall.replace("Z", ""));
});

/** The browser's own tooltip, as in Vega, with the texts of the page. */
export function tooltip(texts) {
  const one = (value, name) => (typeof value === "string" ? value : Array.isArray(value) ? value.map((each) => one(each, name)).join(", ") : text(texts, value, name));
  const lines = (value) => Object.entries(value).map(([name, each]) => `${name}: ${one(each, name)}`);
  return (handler, _event, _item, value) => {
    const isRecord = value && Object.getPrototypeOf(value) === Object.prototype;
    handler.element()?.setAttribute("title", isRecord ? lines(value).join("\n") : value === null || value === undefined ? "" : one(value));
  };
}
