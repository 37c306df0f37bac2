"""SQL for times, by dialect."""

from __future__ import annotations

import re
from typing import Final

_EPOCH: Final = {
    "postgresql": "extract(epoch from {0})",
    "redshift": "extract(epoch from {0})",
    "duckdb": "epoch({0})",
    "sqlite": "cast(strftime('%s', {0}) as integer)",
    "mysql": "unix_timestamp({0})",
    "mariadb": "unix_timestamp({0})",
    "clickhouse": "toUnixTimestamp({0})",
    "snowflake": "date_part(epoch_second, {0})",
    "bigquery": "unix_seconds({0})",
    "databricks": "unix_timestamp({0})",
    "trino": "to_unixtime({0})",
    "tsql": "datediff(second, '1970-01-01', {0})",
}
_FROM_EPOCH: Final = {
    "postgresql": "to_timestamp({0})",
    "duckdb": "to_timestamp({0})",
    "redshift": "timestamp 'epoch' + ({0}) * interval '1 second'",
    "sqlite": "datetime({0}, 'unixepoch')",
    "mysql": "from_unixtime({0})",
    "mariadb": "from_unixtime({0})",
    "clickhouse": "toDateTime({0})",
    "snowflake": "to_timestamp({0})",
    "bigquery": "timestamp_seconds({0})",
    "databricks": "timestamp_seconds({0})",
    "trino": "from_unixtime({0})",
    "tsql": "dateadd(second, {0}, '1970-01-01')",
}
_BINS: Final = {
    "postgresql": "date_bin('{1} seconds', {0}, timestamp '1970-01-01')",
    "duckdb": "time_bucket(interval '{1} seconds', {0}, timestamp '1970-01-01')",
    "clickhouse": "toStartOfInterval({0}, interval {1} second)",
    "snowflake": "time_slice({0}, {1}, 'second')",
}
_INSTANTS: Final = {
    "sqlite": "text",
    "mysql": "datetime",
    "mariadb": "datetime",
    "clickhouse": "DateTime64(3)",
    "snowflake": "timestamp_tz",
    "bigquery": "timestamp",
    "databricks": "timestamp",
    "trino": "timestamp with time zone",
    "tsql": "datetimeoffset",
}
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "M": 2592000, "y": 31536000}
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdwMy])")


def epoch(expression: str, dialect: str) -> str:
    """Return SQL that converts a time to seconds since 1970."""
    return _EPOCH[dialect].format(expression)


def from_epoch(expression: str, dialect: str) -> str:
    """Return SQL that converts seconds since 1970 to a time."""
    return _FROM_EPOCH[dialect].format(expression)


def instant_type(dialect: str) -> str:
    return _INSTANTS.get(dialect, "timestamptz")


def seconds(interval: str) -> int | None:
    """Return the seconds in an interval like ``5m``, ``1h`` or ``1d``; None for fractions of a second and other
    strings."""
    match = _INTERVAL.fullmatch(interval.strip())
    if match is None:
        return None
    length = float(match[1]) * _SECONDS[match[2]]
    return int(length) if length >= 1 and length == int(length) else None


def fixed_bucket(expression: str, length: int, dialect: str) -> str:
    """Return SQL that rounds a time down to a multiple of ``length`` seconds since 1970."""
    bins = _BINS.get(dialect)
    if bins is not None:
        return bins.format(expression, length)
    return from_epoch(f"floor({epoch(expression, dialect)} / {length}) * {length}", dialect)
