"""Databricks and Spark SQL: rules from the engines' grammar and sqlglot's tokenizer, not tested on an engine."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import Dialect, Identifiers, escapes, for_each_unit, function_names, seconds

_FUNCTIONS = """
    identifier reflect try_reflect java_method remote_query read_files read_kafka read_kinesis read_pubsub read_pulsar
    read_statestore read_state_metadata table_changes event_log http_request secret try_secret list_secrets
    cloud_files_state
"""

DIALECT = Dialect(
    name="databricks",
    paramstyle="named",
    prefixes="[rRxX]",
    plain_prefixes="rRxX",
    double_is_string=True,
    double_takes_prefix=True,
    # Older releases read 'a''b' as two literals, newer ones as one literal that contains a quote. So '' is refused in a
    # string with variables.
    doubled_quotes=False,
    backslash=True,
    backslash_escapes=escapes("'\"\\bnrt0Z", kept="%_"),
    line_end=r"\r\n",
    nested_comments=True,
    native_markers=frozenset("?"),
    interval_fix="write {{ n }} * interval '1' day, with the unit that you need",
    max_parameters=255,
    identifiers=Identifiers.IGNORES_CASE,
    name_quote="`",
    dynamic_functions=function_names(_FUNCTIONS),
    empty_in="in (select null where false)",
    empty_not_in="not in (select null where false)",
    array_parameter="{placeholder}",
    json_parameter="parse_json({placeholder})",
    null_safe_equal="{left} <=> {right}",
    casts={
        "text": "string",
        "integer": "bigint",
        "decimal": "decimal(38, 9)",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamp",
        "uuid": "string",
    },
    bind_as={"uuid": str, "interval": seconds},
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    is_date="typeof({column}) = 'date'",
    local_days=(
        "case when typeof({column}) = 'date' then cast({column} as timestamp)"
        " else from_utc_timestamp({column}, {zone}) end"
    ),
    local_time="from_utc_timestamp({column}, {zone})",
)
