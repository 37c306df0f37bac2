"""Trino and Presto: rules from Trino's SqlBase.g4 and sqlglot's tokenizer, not tested on an engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import Dialect, Identifiers, for_each_unit, function_names, seconds

_FUNCTIONS = "query raw_query native_query procedure sheet table_changes"  # table functions that connectors define

DIALECT = Dialect(
    name="trino",
    paramstyle="qmark",
    prefixes="[uU]&|[xX]",
    line_end=r"\r\n",
    arrays=True,
    native_markers=frozenset("?"),
    interval_fix="write {{ n }} * interval '1' day, with the unit that you need",
    identifiers=Identifiers.IGNORES_CASE,
    dynamic_functions=function_names(_FUNCTIONS),
    empty_in="in (select null where false)",
    empty_not_in="not in (select null where false)",
    array_parameter="{placeholder}",
    json_parameter="json_parse({placeholder})",
    casts={
        "text": "varchar",
        "integer": "bigint",
        "decimal": "decimal(38, 9)",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamp with time zone",
        "uuid": "uuid",
    },
    bind_as={"interval": seconds},
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    is_date="typeof({column}) = 'date'",
    local_days=(
        "case when typeof({column}) = 'date' then cast({column} as timestamp)"
        " else cast(at_timezone(cast({column} as timestamp with time zone), {zone}) as timestamp) end"
    ),
    local_time="cast(at_timezone(cast({column} as timestamp with time zone), {zone}) as timestamp)",
)
