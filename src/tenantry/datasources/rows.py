"""Rows: what every engine answers with, in one shape, and how many of them are taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import getsizeof
from typing import Any

from tenantry.datasources.limits import Limits
from tenantry.datasources.source import Rows, refused, too_many_bytes, too_many_rows

_SMALL = 32
"""Bytes that a number, a date or an UUID is counted as."""


def take_rows(source_id: str, rows: Iterable[Sequence[Any]], limits: Limits) -> list[Sequence[Any]]:
    """The rows of a cursor, taken one by one, so that no more is in memory than the limits allow and one row.

    Raises TooManyRows, and TooManyBytes for values that take more than ``max_bytes`` of memory together.
    """
    taken: list[Sequence[Any]] = []
    left, row_limit = limits.max_bytes, limits.row_limit
    for row in rows:
        if len(taken) == row_limit:
            raise too_many_rows(source_id, row_limit)
        left -= _SMALL * len(row)
        for value in row:
            kind = type(value)
            if kind is str or kind is bytes:
                left -= getsizeof(value)
            elif kind not in _FLAT:
                left -= _size(value)
        if left < 0:
            raise too_many_bytes(source_id, limits.max_bytes)
        taken.append(row)
    return taken


_FLAT = frozenset({int, float, bool, type(None)})


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
        raise too_many_rows(source_id, limit)
    _check_names(source_id, columns)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _check_names(source_id: str, columns: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(columns, 1):
        first = seen.setdefault(name, position)
        if first != position:
            # Positions, not names: with client-side binding the name of an unnamed column is the value itself.
            raise refused(source_id, f"columns {first} and {position} have the same name; name one of them with AS")
