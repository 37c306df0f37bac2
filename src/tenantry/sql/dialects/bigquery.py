"""BigQuery (GoogleSQL): rules from BigQuery's documentation and sqlglot's tokenizer, not tested on the engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import UNITS, Dialect, Identifiers, escapes, function_names, seconds

_FUNCTIONS = "external_query external_object_transform appends changes vector_search gap_fill ml.* ai.*"

DIALECT = Dialect(
    name="bigquery",
    paramstyle="pyformat",
    prefixes="[rR][bB]?|[bB][rR]?",
    double_is_string=True,
    double_takes_prefix=True,
    triple_quotes=True,
    doubled_quotes=False,
    backslash=True,
    backslash_escapes=escapes("'\"\\`?abfnrtv"),
    name_backslash=True,
    line_end=r"\r\n",
    hash_comment="#",
    native_markers=frozenset("?@"),
    interval_takes_value=True,
    max_parameters=10_000,
    identifiers=Identifiers.EXACT,
    name_quote="`",
    dynamic_functions=function_names(_FUNCTIONS, escaped_names="\\"),
    # `unnest([])` fits every type; a sub-select of null would be INT64. NULL `in` an empty array is false.
    empty_in="in unnest([])",
    empty_not_in="not in unnest([])",
    like_escape="\\",
    like_escape_clause="",
    array_parameter="{placeholder}",
    json_parameter="parse_json({placeholder})",
    casts={
        "text": "string",
        "integer": "int64",
        "decimal": "numeric",
        "boolean": "bool",
        "date": "date",
        "datetime": "timestamp",
        "uuid": "string",
    },
    bind_as={"uuid": str, "interval": seconds},
    time_buckets={unit: f"timestamp_trunc({{column}}, {'isoweek' if unit == 'week' else unit})" for unit in UNITS},
    weeks_from_sunday="timestamp_trunc({column}, week)",
    is_date="length(cast({column} as string)) = 10",
    local_days=(
        "case when length(cast({column} as string)) = 10 then cast({column} as datetime)"
        " else datetime(cast({column} as timestamp), {zone}) end"
    ),
    local_time="datetime({column}, {zone})",
)
