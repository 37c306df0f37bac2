// Prepares what completion can offer, once for each response of the server, so that typing only looks it up.

import { entry } from "./entries.js";
import { wordsOf } from "./words.js";

/** Kinds in words, because authors need not know what the colours mean. */
const KINDS = {
  guarded: ["guarded table", "A guarded table: a query reads only the rows of the group."],
  shared: ["shared table", "A shared table: every group reads the same rows."],
  unlisted: ["unlisted table", "The declaration of guarded tables does not list this table, so queries may not read it."],
  open: ["table", "A table without a guard: the query itself must select the rows of the group."],
};
const FILTERS = [
  ["array", "the list as one parameter: any({{ ids | array }})"],
  ["json", "the value as JSON text"],
  ["contains", "a pattern for like: the text anywhere"],
  ["prefix", "a pattern for like: the text at the beginning"],
  ["suffix", "a pattern for like: the text at the end"],
  ["one_of", "chooses SQL by the value: one_of(day: d.day, month: d.month)", "one_of()"],
  ["within", "a condition: the column is in the range", "within()"],
  ["matches", "a condition: the column is one of the values", "matches()"],
  ["excludes", "a condition: the column is none of the values", "excludes()"],
  ["trunc", "the column cut to the unit that the value names", "trunc()"],
  ["default", "the value if there is none", "default()"],
  ["nullable", "NULL if there is no value"],
  ["not_a_filter", "a variable of the group that does not select rows"],
];
const LONGEST_VALUE = 40;

export const filters = FILTERS.map(([name, info, apply]) => entry(name, "filter", "", info, apply));

export class Knowledge {
  /**
   * @param {{ variables?: { path: string, type?: string, value?: unknown, present?: number, total?: number, note?: string }[], params?: {
   *   name: string, type?: string, choices?: unknown, default?: unknown }[], fragments?: string[], catalogue?: { dialect?: string, tables?:
   *   { name: string, columns: string[], kind?: string, view?: boolean }[], functions?: string[], keywords?: string[] } | null, schema?:
   *   any, queries?: string[], mapped?: string[], }} [given] from the responses of the server; ``schema``: the JSON schema of dashboards;
   *   ``queries``: names of query files; ``mapped``: schemas of the group's mapping
   * @param {string} [dialect] the dialect of the SQL until the catalogue is known
   */
  constructor({ variables = [], params = [], fragments = [], catalogue, schema = null, queries = [], mapped = [] } = {}, dialect = "postgresql") {
    this.schema = schema;
    this.queries = queries;
    this.mapped = mapped;
    const [own, others] = [variables.filter(isProperty), variables.filter((each) => !isProperty(each))];
    this.variables = [...params.map(parameterEntry), ...[...own, ...others].map(variableEntry)];
    this.fragments = fragments.map((name) => entry(name, "fragment", "fragment", "The SQL of this file is written in the place of the tag."));
    this.catalogue = catalogueOf(catalogue ?? {}, dialect);
  }
}

/** @type {WeakMap<object, Catalogue>} */
const read = new WeakMap();

/** Prepares each catalogue only once, because there are many responses about variables, but few with a new catalogue. */
function catalogueOf(given, dialect) {
  if (!read.has(given)) read.set(given, new Catalogue(given, given.dialect ?? dialect));
  return read.get(given);
}

class Catalogue {
  constructor({ tables = [], functions = [], keywords = [] }, dialect) {
    this.quote = quoting(dialect);
    this.functions = functions.map((name) => entry(name, "function", "function", "", `${name}()`));
    const kinds = wordsOf(dialect);
    const words = [...kinds.keys()].sort((one, other) => (kinds.get(one) === "typeName") - (kinds.get(other) === "typeName"));
    this.keywords = [...words, ...keywords.map((word) => word.toLowerCase())].map((word) => entry(word, "keyword", "", ""));
    this.tables = tables.map((table) => this.#table(table));
    /** @type {Map<string, any>} tables by their name, and by its last part */
    this.byName = new Map();
    for (const table of this.tables) {
      const short = table.key.slice(table.key.lastIndexOf(".") + 1);
      if (!this.byName.has(short)) this.byName.set(short, table);
    }
    for (const table of this.tables) this.byName.set(table.key, table);
    this.schemas = [...new Set(this.tables.map(({ label }) => label.slice(0, Math.max(0, label.lastIndexOf(".")))))]
      .filter(Boolean)
      .map((name) => entry(name, "open", "schema", ""));
  }

  #table({ name, columns, kind = "open", view = false }) {
    const [words, info] = KINDS[kind] ?? KINDS.open;
    const detail = view ? words.replace("table", "view") : words;
    return { ...entry(name, kind in KINDS ? kind : "open", detail, info, name.split(".").map(this.quote).join(".")), columns, made: null };
  }

  /** @returns {any[]} the columns of a table as entries */
  columnsOf(table) {
    table.made ??= columnEntries(table.columns, table.label, this.quote);
    return table.made;
  }
}

export const columnEntries = (columns, of, quote) => columns.map((name) => entry(name, "column", of, "", quote(name)));

const isProperty = ({ path }) => path.includes(".properties.");

function variableEntry({ path, type, value, present, total, note }) {
  const missing = total !== undefined && present < total ? `missing in ${total - present}` : "";
  const coverage = total === undefined ? "" : `In ${present} of ${total} groups${missing && `; ${missing}`}.`;
  const detail = [shown(value), type, missing].filter(Boolean).join(" \u00b7 ");
  return entry(path, "variable", detail, [coverage, note].filter(Boolean).join(" "));
}

function parameterEntry({ name, type, choices, default: usual }) {
  const detail = ["parameter", type].filter(Boolean).join(" \u00b7 ");
  const about = [usual === undefined || usual === null ? "" : `Default: ${shown(usual)}.`, Array.isArray(choices) ? `Choices: ${choices.map(shown).join(", ")}.` : ""];
  return entry(`params.${name}`, "variable", detail, about.filter(Boolean).join(" "));
}

function shown(value) {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}\u2026` : text;
}

/** @returns {(name: string) => string} writes a name, in quotes if the dialect would otherwise read it as another name */
function quoting(dialect) {
  const [open, close] = ["mysql", "mariadb", "clickhouse", "bigquery", "databricks"].includes(dialect) ? "``" : dialect === "tsql" ? "[]" : '""';
  const plain = ["postgresql", "redshift"].includes(dialect) ? /^[a-z_][a-z0-9_]*$/ : dialect === "snowflake" ? /^[A-Z_][A-Z0-9_]*$/ : /^[A-Za-z_]\w*$/;
  const words = wordsOf(dialect);
  return (name) => (plain.test(name) && words.get(name.toLowerCase()) !== "keyword" ? name : open + name.replaceAll(close, close + close) + close);
}
