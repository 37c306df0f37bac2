"""Amazon Redshift: PostgreSQL 8.0 with backslash escapes. Rules from sqlglot's tokenizer, not tested on the engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import TAGGED_DOLLARS, Dialect, Identifiers, for_each_unit, function_names, seconds

_FUNCTIONS = "dblink* ts_stat ts_rewrite pg_read_file* pg_ls_dir pg_stat_file lo_import lo_export execute"

DIALECT = Dialect(
    name="redshift",
    paramstyle="format",
    prefixes="[bBnNxX]",
    backslash=True,
    backslash_escapes={"'": "'", "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"},
    backticks=False,
    dollar_quotes=TAGGED_DOLLARS,
    line_end=r"\r\n",
    nested_comments=True,
    native_markers=frozenset("$"),
    identifiers=Identifiers.FOLDS_LOWER,
    dynamic_functions=function_names(_FUNCTIONS, attributes=True),
    # An untyped NULL fits a left side of any type. `in (null)` is always NULL, and `NULL is true` is false.
    empty_in="in (null) is true",
    empty_not_in="in (null) is not true",
    json_parameter="json_parse({placeholder})",
    null_safe_equal="({left} = {right} or ({left} is null and {right} is null))",
    types_placeholders=True,
    casts={
        "text": "varchar",
        "integer": "bigint",
        "decimal": "numeric(38, 9)",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamptz",
        "uuid": "varchar",
    },
    bind_as={"uuid": str, "interval": seconds},
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    instant="cast({column} as timestamptz)",
    local_time="cast({column} as timestamptz) at time zone {zone}",
)
