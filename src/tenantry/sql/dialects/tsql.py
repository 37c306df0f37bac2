"""T-SQL with QUOTED_IDENTIFIER on: rules from Microsoft's documentation and sqlglot's tokenizer, not tested on the
engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import UNITS, Dialect, Identifiers, function_names, naive_utc, seconds

_FUNCTIONS = """
    sp_* xp_* openquery openrowset opendatasource object_definition fn_get_sql dm_exec_describe_first_result_set
    fn_trace_gettable fn_xe_file_target_read_file fn_get_audit_file* fn_dump_dblog dm_os_file_exists
    dm_os_enumerate_filesystem
"""

DIALECT = Dialect(
    name="tsql",
    paramstyle="qmark",
    prefixes="[nN]",
    backticks=False,
    bracket_names=True,
    bracket_doubled=True,
    line_end=r"\r\n",
    nested_comments=True,
    top_takes_value=True,
    interval_fix="write dateadd(day, {{ n }}, …), with the unit that you need",
    max_parameters=2_100,
    identifiers=Identifiers.IGNORES_CASE,
    dynamic_functions=function_names(_FUNCTIONS, words="exec execute sp_executesql"),
    # nvarchar, because only strings convert to every other type. `1 = 0`, because T-SQL has no `false`.
    empty_in="in (select cast(null as nvarchar(1)) where 1 = 0)",
    empty_not_in="not in (select cast(null as nvarchar(1)) where 1 = 0)",
    like_wildcards="%_[",
    casts={
        "text": "nvarchar(max)",
        "integer": "bigint",
        "decimal": "decimal(38, 9)",
        "boolean": "bit",
        "date": "date",
        "datetime": "datetimeoffset",
        "uuid": "uniqueidentifier",
    },
    bind_as={"datetime": naive_utc, "uuid": str, "interval": seconds},
    # datetrunc needs SQL Server 2022.
    time_buckets={unit: f"datetrunc({'iso_week' if unit == 'week' else unit}, {{column}})" for unit in UNITS},
    weeks_from_sunday="dateadd(day, -1, datetrunc(iso_week, dateadd(day, 1, {column})))",
    is_date="len(convert(varchar(40), {column}, 126)) = 10",
    local_days=(
        "case when len(convert(varchar(40), {column}, 126)) = 10 then cast({column} as datetime2)"
        " else cast({column} at time zone 'UTC' at time zone {zone} as datetime2) end"
    ),
    local_time="cast({column} at time zone 'UTC' at time zone {zone} as datetime2)",  # zones have Windows names
)
