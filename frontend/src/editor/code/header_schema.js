// A JSON schema of the header of a query file. The server reads headers in src/tenantry/sql/header; tests/editor/code/test_completion.py
// compares the keys and values of both.

const ONE = "text integer decimal boolean date datetime uuid interval choice".split(" ");
const RANGES = ["date range", "datetime range", "relative range"];
const TRUTH = { type: "boolean" };
const about = (description, more = {}) => ({ description, ...more });

const PARAMETER = {
  properties: {
    type: about("the type of the value", { enum: [...ONE, ...RANGES, ...ONE.map((each) => `list of ${each}`)] }),
    label: about("the label for viewers; default: the name"),
    description: about("a sentence about the parameter"),
    default: about("the value until a viewer chooses; {property: region} takes the group's"),
    required: about("whether a viewer must choose before the query runs", TRUTH),
    locked: about("whether no viewer may choose; the default is then a property of the group", TRUTH),
    min: about("the smallest value, or the first day"),
    max: about("the largest value, or the last day"),
    max_length: about("the most characters of a text"),
    choices: about("the values that may be chosen"),
    zone: about("the time zone of the days"),
    open: about("which end of a range may be left out", { enum: ["start", "end", "both"] }),
    match: about("how a text is compared", { enum: ["equals", "contains", "prefix", "suffix"] }),
    is_null: about("the word with which a viewer chooses rows without a value"),
    max_items: about("the most values of a list"),
  },
  additionalProperties: false,
};

export const HEADER = {
  properties: {
    title: about("the title of the query"),
    description: about("a sentence about the query"),
    params: about("what viewers choose: a name and a definition for each", { additionalProperties: PARAMETER }),
    optional: about("variables that groups may lack"),
    dialect: about("the SQL dialect", {
      enum: "postgresql bigquery clickhouse databricks duckdb mariadb mysql redshift snowflake sqlite trino tsql".split(" "),
    }),
    choices: about("named choices for one_of"),
    tenant: about("why every group may read every row: {none: countries are public}", { properties: { none: about("the reason") } }),
  },
  additionalProperties: false,
};
