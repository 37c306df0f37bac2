"""DuckDB: the rules of PostgreSQL, except where we saw that the engine reads SQL differently."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import TAGGED_DOLLARS, Dialect, Identifiers, for_each_unit, function_names
from tenantry.sql.dialects.postgresql import DIALECT as POSTGRESQL

_FUNCTIONS = "query query_table json_execute_serialized_sql histogram_values pragma_storage_info"
_EXTENSIONS = """
    sqlite_query sqlite_scan postgres_query postgres_execute postgres_scan* mysql_query mysql_execute mysql_scan
    odbc_query odbc_exec odbc_scan bigquery_query bigquery_execute bigquery_scan snowflake_query snowflake_scan
    mssql_scan from_substrait from_substrait_json
"""

DIALECT = Dialect(
    name="duckdb",
    paramstyle="numeric_dollar",
    escape_prefixes="eE",
    prefixes="[eE]|[bBnNxX]",
    line_end=r"\r\n",
    nested_comments=True,
    dollar_quotes=TAGGED_DOLLARS,
    arrays=True,
    native_markers=frozenset("?$"),
    columns_expression=True,
    identifiers=Identifiers.IGNORES_CASE,
    # Outside of `from`, `histogram` is an aggregate.
    dynamic_functions=function_names(_FUNCTIONS + _EXTENSIONS, tables="histogram"),
    # In DuckDB `null in ()` is NULL, so `not in ()` would lose rows. `not in` an empty sub-select keeps them.
    empty_in="in (select null where false)",
    empty_not_in="not in (select null where false)",
    array_parameter="{placeholder}",
    json_parameter="cast({placeholder} as json)",
    exact_equal="{column} = {value} and cast({column} as varchar) collate c = cast({value} as varchar)",
    casts={
        "text": "varchar",
        "integer": "bigint",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamptz",
        "uuid": "uuid",
        "interval": "interval",
    },
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    is_date="typeof({column}) = 'DATE'",
    # Whatever the zone of the session, a column without a time zone is in UTC.
    instant=(
        "case when typeof({column}) = 'TIMESTAMP WITH TIME ZONE' then cast({column} as timestamptz)"
        " else cast({column} as timestamp) at time zone 'UTC' end"
    ),
    local_time="cast({column} as timestamptz) at time zone {zone}",
    local_starts=POSTGRESQL.local_starts,
)
