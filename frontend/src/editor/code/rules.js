// The differences between dialects when SQL is split into tokens. The server has the same rules in src/tenantry/sql/dialects;
// tests/editor/test_code_lexer.py compares the tokens of both.

const TAGGED_DOLLARS = "\\$(?:[A-Za-z_\\u0080-\\uffff][A-Za-z0-9_\\u0080-\\uffff]*)?\\$";
const STANDARD = {
  prefixes: "", // of strings, as a regular expression
  escapePrefixes: "", // the prefixes that enable backslash escapes
  plainPrefixes: "", // the prefixes that disable them
  doubleIsString: false,
  doubleTakesPrefix: false,
  tripleQuotes: false,
  backslash: false,
  nameBackslash: false,
  backticks: true,
  bracketNames: false,
  bracketDoubled: false,
  typographic: false, // quotes
  asciiWords: false,
  dollar: "", // the opening of a dollar-quoted string, as a regular expression
  line: "--", // what begins a comment up to the end of the line, as a regular expression
  nested: false, // of block comments
};
const MYSQL = { prefixes: "[bBnNxX]", doubleIsString: true, backslash: true, line: "--(?=[\\0-\\x20\\x7f]|$)|#" };

/** @type {Record<string, typeof STANDARD>} by the name of the dialect */
export const RULES = {
  postgresql: { ...STANDARD, prefixes: "[eE]|[uU]&|[bBnNxX]", escapePrefixes: "eE", backticks: false, dollar: TAGGED_DOLLARS, nested: true },
  bigquery: {
    ...STANDARD,
    prefixes: "[rR][bB]?|[bB][rR]?",
    doubleIsString: true,
    doubleTakesPrefix: true,
    tripleQuotes: true,
    backslash: true,
    nameBackslash: true,
    line: "--|#",
  },
  clickhouse: {
    ...STANDARD,
    prefixes: "[xXbB]",
    plainPrefixes: "xXbB",
    backslash: true,
    nameBackslash: true,
    typographic: true,
    asciiWords: true,
    dollar: "\\$[A-Za-z0-9_]*\\$",
    line: "--|//|#(?=[ !])",
    nested: true,
  },
  databricks: {
    ...STANDARD,
    prefixes: "[rRxX]",
    plainPrefixes: "rRxX",
    doubleIsString: true,
    doubleTakesPrefix: true,
    backslash: true,
    nested: true,
  },
  duckdb: { ...STANDARD, prefixes: "[eE]|[bBnNxX]", escapePrefixes: "eE", dollar: TAGGED_DOLLARS, nested: true },
  mariadb: { ...STANDARD, ...MYSQL },
  mysql: { ...STANDARD, ...MYSQL },
  redshift: { ...STANDARD, prefixes: "[bBnNxX]", backslash: true, backticks: false, dollar: TAGGED_DOLLARS, nested: true },
  snowflake: { ...STANDARD, prefixes: "[xX]", backslash: true, backticks: false, dollar: "\\$\\$", line: "--|//" },
  sqlite: { ...STANDARD, prefixes: "[xX]", bracketNames: true },
  trino: { ...STANDARD, prefixes: "[uU]&|[xX]" },
  tsql: { ...STANDARD, prefixes: "[nN]", backticks: false, bracketNames: true, bracketDoubled: true, nested: true },
};

/** @returns {typeof STANDARD} the rules of the dialect; for an unknown dialect, those of PostgreSQL */
export const rulesOf = (dialect) => RULES[dialect] ?? RULES.postgresql;
