"""Snowflake: rules from its documentation and sqlglot's tokenizer, not tested on the engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import Dialect, Identifiers, escapes, for_each_unit, function_names, seconds

_FUNCTIONS = """
    identifier to_query result_scan system$* get_ddl infer_schema get_object_references build_scoped_file_url
    build_stage_file_url get_presigned_url get_stage_location to_file
"""

DIALECT = Dialect(
    name="snowflake",
    paramstyle="pyformat",
    prefixes="[xX]",
    backslash=True,
    backslash_escapes=escapes("'\"\\bfnrt0"),
    backticks=False,
    dollar_quotes=r"\$",
    line_end=r"\r\n",
    slash_comment=True,
    arrays=True,
    native_markers=frozenset("?"),
    interval_fix="write dateadd(day, {{ n }}, …), with the unit that you need",
    identifiers=Identifiers.FOLDS_UPPER,
    dynamic_functions=function_names(_FUNCTIONS),
    empty_in="in (select null where false)",
    empty_not_in="not in (select null where false)",
    json_parameter="parse_json({placeholder})",
    casts={
        "text": "varchar",
        "integer": "number(38, 0)",
        "decimal": "number(38, 9)",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamp_tz",
        "uuid": "varchar",
    },
    bind_as={"uuid": str, "interval": seconds},
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),  # a week begins on the session's week_start
    weeks_from_sunday="dateadd(day, -1, date_trunc('week', dateadd(day, 1, {column})))",
    local_days=(
        "case when length(cast({column} as varchar)) = 10 then to_timestamp_ntz({column})"
        " else to_timestamp_ntz(convert_timezone({zone}, {column})) end"
    ),
    local_time="to_timestamp_ntz(convert_timezone({zone}, {column}))",
)
