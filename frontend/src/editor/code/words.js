// The words of SQL that are coloured and offered. Statements that change data have no words here, because only queries are written in this
// editor. Functions come from the server's catalogue.

const KEYWORDS = `all and any as asc between by case collate cross current current_date current_time current_timestamp
desc distinct else end escape except exclude exists fetch filter first following for from full group grouping having in
inner intersect interval into is join last lateral left like limit materialized natural next no not nulls of offset on
only or order ordinality others outer over partition preceding range recursive right row rows select set sets some
symmetric table tablesample then ties to unbounded union unique using values when where window with within without`;
const TYPES = `bigint binary bit blob bool boolean char character clob date datetime decimal double float int integer json
numeric precision real smallint text time timestamp tinyint uuid varchar varying`;

const FURTHER = {
  postgresql: [
    "analyse analyze array asymmetric at cast cube extract groups ilike isnull localtime localtimestamp notnull overlaps " +
      "rollup row similar trim variadic xmltable zone",
    "bytea cidr citext daterange float4 float8 inet int2 int4 int8 int4range int8range jsonb macaddr money name numrange " +
      "oid regclass timestamptz timetz tsquery tsrange tstzrange tsvector xml",
  ],
  mysql: [
    "binary cast convert div dual extract force high_priority ignore index json_table lock mod regexp rlike rollup " +
      "separator share skip locked sounds sql_big_result sql_calc_found_rows straight_join trim use xor",
    "enum longblob longtext mediumblob mediumint mediumtext signed tinyblob tinytext unsigned varbinary year zerofill",
  ],
  sqlite: ["cast glob groups indexed isnull match notnull pragma regexp", "any int2 int8 nchar nvarchar"],
  duckdb: [
    "anti array asof at cast columns cube exclude extract glob groups ilike isnull macro notnull pivot positional qualify " +
      "replace rollup sample semi similar struct summarize trim unnest unpivot zone",
    "bitstring hugeint int1 int2 int4 int8 list long map ubigint uhugeint uinteger union usmallint utinyint timestamptz",
  ],
  clickhouse: [
    "anti any array asof cast cube extract final format global ilike left prewhere qualify rollup sample semi settings " +
      "substring totals trim",
    "array bool date32 datetime64 decimal128 decimal256 decimal32 decimal64 enum16 enum8 fixedstring float32 float64 int128 " +
      "int16 int256 int32 int64 int8 ipv4 ipv6 lowcardinality map nested nullable string tuple uint128 uint16 uint256 " +
      "uint32 uint64 uint8 variant",
  ],
  bigquery: [
    "array at cast cube except extract hash ignore pivot qualify replace respect rollup struct unnest unpivot window zone",
    "array bignumeric bytes float64 geography int64 string struct",
  ],
  snowflake: [
    "at cast connect cube extract flatten ilike minus pivot prior qualify regexp rlike rollup sample start top trim unpivot zone",
    "array geography number object string timestamp_ltz timestamp_ntz timestamp_tz variant",
  ],
  databricks: [
    "anti at cast cluster cube distribute extract ilike pivot qualify regexp rlike rollup semi sort tablesample unpivot view zone",
    "array byte long map short string struct timestamp_ntz variant void",
  ],
  trino: [
    "array at cast cube extract grouping localtime localtimestamp match_recognize rollup skip unnest zone",
    "array hyperloglog ipaddress map row varbinary",
  ],
  tsql: [
    "apply cast convert cube openjson option percent pivot rollup top try_cast unpivot",
    "datetime2 datetimeoffset hierarchyid image money nchar ntext nvarchar smalldatetime smallmoney uniqueidentifier xml",
  ],
};
FURTHER.mariadb = FURTHER.mysql;
FURTHER.redshift = FURTHER.postgresql;

/** @type {Map<string, Map<string, "keyword" | "typeName" | "atom">>} */
const made = new Map();

/** @returns {Map<string, "keyword" | "typeName" | "atom">} the kind of each word of a dialect, in lower case */
export function wordsOf(dialect) {
  if (!made.has(dialect)) {
    const [keywords, types] = FURTHER[dialect] ?? ["", ""];
    const kinds = new Map([
      ...listed(`${TYPES} ${types}`, "typeName"),
      ...listed(`${KEYWORDS} ${keywords}`, "keyword"),
      ...listed("true false null", "atom"),
    ]);
    made.set(dialect, kinds);
  }
  return made.get(dialect);
}

const listed = (text, kind) => text.split(/\s+/).filter(Boolean).map((word) => [word, kind]);
