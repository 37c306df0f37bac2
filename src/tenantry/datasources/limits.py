"""Limits: what one query, one data source, and all of them together may cost; and the rows of a query within them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

from tenantry.datasources.driver import Rows, query_error, too_many_bytes_error, too_many_rows_error
from tenantry.errors import InvalidSettings

_SMALL = 32
"""Bytes that a number, a date or a UUID is counted as."""
_FLAT = frozenset({int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of data sources. Times are seconds.

    ``timeout`` is for one query, ``row_limit`` for its rows, ``max_bytes`` for the memory that their values take,
    ``pool_size`` for the connections (and so queries at once) of one source, ``connect_timeout`` for getting one of
    them, free or new, ``max_sources`` for the sources open at once. ``group_pool_size`` are the connections of one
    source that one group may use at once (None: all), ``max_waiting`` and ``group_max_waiting`` the queries that may
    wait for one source, of all groups and of one. Raises InvalidSettings when a bound is none.
    """

    timeout: float = 30.0
    row_limit: int = 10_000
    max_bytes: int = 32 * 1024 * 1024
    pool_size: int = 5
    connect_timeout: float = 5.0
    max_sources: int = 64
    group_pool_size: int | None = None
    max_waiting: int = 1_000
    group_max_waiting: int = 200

    def __post_init__(self) -> None:
        for name in ("timeout", "connect_timeout"):
            value = getattr(self, name)
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                raise InvalidSettings(f"{name} is {value!r}; it takes a number of seconds above 0")
        for name in ("row_limit", "max_bytes", "pool_size", "max_sources", "max_waiting", "group_max_waiting"):
            value = getattr(self, name)
            if not (_is_number(value) and isinstance(value, int) and value > 0):
                raise InvalidSettings(f"{name} is {value!r}; it takes a whole number above 0")
        share: Any = self.group_pool_size
        if share is not None and not (type(share) is int and 0 < share <= self.pool_size):
            raise InvalidSettings(f"group_pool_size is {share!r}; it takes a whole number from 1 to pool_size, or None")

    @property
    def timeout_ms(self) -> int:
        """``timeout`` in whole milliseconds, never 0: to every server 0 means "no limit"."""
        return max(1, round(self.timeout * 1000))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def take_rows(source_id: str, rows: Iterable[Sequence[Any]], limits: Limits) -> list[Sequence[Any]]:
    """The rows of a cursor, taken one by one, so that no more is in memory than the limits allow and one row.

    Raises TooManyRows, and TooManyBytes for values that take more than ``max_bytes`` of memory together.
    """
    taken: list[Sequence[Any]] = []
    left, row_limit = limits.max_bytes, limits.row_limit
    for row in rows:
        if len(taken) == row_limit:
            raise too_many_rows_error(source_id, row_limit)
        left -= _SMALL * len(row)
        for value in row:
            kind = type(value)
            if kind is str or kind is bytes:
                left -= getsizeof(value)
            elif kind not in _FLAT:
                left -= _size(value)
        if left < 0:
            raise too_many_bytes_error(source_id, limits.max_bytes)
        taken.append(row)
    return taken


def _size(value: Any) -> int:
    """Bytes of a value and of all that is in it, as DuckDB gives lists, structs and maps."""
    size = getsizeof(value)
    if isinstance(value, dict):
        return size + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return size + sum(map(_size, value))
    return size


def to_dicts(source_id: str, columns: Sequence[str], rows: Sequence[Iterable[Any]], limit: int) -> Rows:
    """One dict a row, in the order of the columns; values are what the driver gives (int, str, Decimal, date, bytes…).

    Raises TooManyRows when there are more rows than ``limit``, QueryFailed when two columns have one name: the second
    would silently replace the first.
    """
    if len(rows) > limit:
        raise too_many_rows_error(source_id, limit)
    if len(set(columns)) < len(columns):
        _check_names(source_id, columns)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _check_names(source_id: str, columns: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(columns, 1):
        first = seen.setdefault(name, position)
        if first != position:
            # Positions, not names: with client-side binding the name of an unnamed column is the value itself.
            raise query_error(source_id, f"columns {first} and {position} have the same name; name one of them with AS")
