"""ClickHouse: the rules come from ClickHouse's Lexer.cpp. Tests compare them with the server's function
``tokenizeQuery``."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import Dialect, Identifiers, escapes, for_each_unit, function_names, seconds

# Table functions that read a source named by a string, and functions that read a dictionary or join table by name.
_FUNCTIONS = """
    arrowflight arrowstream azureblobstorage* bigquery catboostevaluate cluster clusterallreplicas cosn deltalake* dict*
    eval executable executablepool file filecluster filesystem fuzzquery gcs hascolumnintable hdfs* hive hudi* iceberg
    icebergazure* icebergcluster iceberghdfs* iceberglocal* icebergs3* input jdbc joinget* loop merge mergetree* mongodb
    mysql odbc oss paimon* postgresql prometheusquery* python redis remote remotesecure s3* sqlite timeseriesdata
    timeseriesmetricfamilies timeseriesmetrics timeseriessamples timeseriesselector timeseriestags url urlcluster
    viewexplain ytsaurus
"""

_DATES = ", ".join(f"'{each}'" for day in ("Date", "Date32") for each in (day, f"Nullable({day})"))

DIALECT = Dialect(
    name="clickhouse",
    paramstyle="pyformat",
    prefixes="[xXbB]",
    plain_prefixes="xXbB",
    ascii_words=True,
    typographic_quotes=True,
    backslash=True,
    backslash_escapes=escapes("'\"\\`/=bfrnt0ave", kept="%_"),
    name_backslash=True,
    dollar_quotes=r"[A-Za-z0-9_]*+\$",
    hash_comment="#(?=[ !])",
    slash_comment=True,
    nested_comments=True,
    arrays=True,
    native_markers=frozenset("{"),
    or_operators=frozenset({"or", "?"}),  # `a and b ? c : d`
    equal_values_are_one=True,
    interval_takes_value=True,
    identifiers=Identifiers.EXACT,
    name_quote="`",
    in_reads_tables=True,
    array_joins=True,
    named_lambdas=True,
    dynamic_functions=function_names(_FUNCTIONS, escaped_names="\\", settings=True),
    # `null in ()` and `null not in ()` are NULL; `is … distinct from` makes the first false and the second true.
    empty_in="in () is not distinct from 1",
    empty_not_in="not in () is distinct from 0",
    like_escape="\\",
    like_escape_clause="",  # releases before 2026 have no `escape` clause
    array_parameter="{placeholder}",
    # `=` alone finds 7 for '07', and the first element of an Enum for 1.
    exact_equal="{column} = {value} and toString({column}) = toString({value})",
    casts={
        "text": "String",
        "integer": "Int64",
        "decimal": "Decimal(38, 9)",
        "boolean": "Bool",
        "date": "Date",
        "datetime": "DateTime64(6)",
        "uuid": "UUID",
    },
    bind_as={"interval": seconds},
    day_of="toDate({column})",  # a cast fails for NULL
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    weeks_from_sunday="toStartOfWeek({column}, 0)",
    is_date=f"toTypeName({{column}}) in ({_DATES})",
    instant="toDateTime64({column}, 6)",
    local_days=f"toTimeZone(toDateTime64({{column}}, 6), if(toTypeName({{column}}) in ({_DATES}), 'UTC', {{zone}}))",
    local_time="toTimeZone(toDateTime64({column}, 6), {zone})",
)
