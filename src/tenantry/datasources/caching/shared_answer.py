from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from tenantry.datasources.driver import Answer
from tenantry.datasources.pool.query_limits import count_bytes
from tenantry.datasources.results import Result

# Exact types, because their subclasses may be mutable.
_IMMUTABLE: Final = frozenset({
    type(None), bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, UUID,
    IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network,
})  # fmt: skip
"""Types whose values need no copy."""
# Without `bytes`, because a driver may return a `bytearray`.
_IMMUTABLE_WORDS: Final = frozenset({
    "boolean", "integer", "decimal", "float", "text", "date", "time", "datetime", "interval", "uuid",
})  # fmt: skip
"""Column types whose values need no copy."""


_ENTRY_BYTES: Final = 1_000
_ROW_BYTES: Final = 64
_VALUE_BYTES: Final = 40
"""Estimated bytes in memory of an answer, a row and a value, without the bytes that ``count_bytes`` returns."""


class Uncopyable(Exception):
    """A value cannot be copied, because its type is unknown or it is nested too deeply."""


class SharedAnswer:
    """One query's result for several callers. Each caller gets copies of mutable values (JSON, arrays, structs).
    ``as_of``: when the source was queried (default: ``answer.as_of``). Raises ValueError if rows are dicts with
    different keys."""

    __slots__ = ("_mutable", "is_copyable", "original", "size")

    def __init__(self, answer: Answer, as_of: datetime | None = None) -> None:
        result = answer if isinstance(answer, Result) else Result.of_dicts(answer)
        types = None if result.types is None else tuple(result.types)
        rows = result.rows if type(result.rows) is tuple else tuple(result.rows)
        self.original: Result = Result(
            tuple(result.names), rows, types, as_of or result.as_of, result.size, result.arrow_types
        )
        """The result itself. If several callers share it, each must use the copy that ``result`` makes."""
        self.size: int = 0
        """Bytes of memory; 0 before ``measure``."""
        self.is_copyable: bool = True
        """False if ``measure`` found a value that cannot be copied."""
        self._mutable: tuple[int, ...] | None = None

    def measure(self) -> None:
        rows, names = self.original.rows, self.original.names
        self.size = _ENTRY_BYTES + count_bytes(rows) + len(rows) * (_ROW_BYTES + _VALUE_BYTES * len(names))
        self._mutable = _mutable_columns(self.original)
        try:
            self.result()
        except Uncopyable:
            self.is_copyable = False

    @property
    def mutable(self) -> tuple[int, ...]:
        if self._mutable is None:
            self._mutable = _mutable_columns(self.original)
        return self._mutable

    def result(self) -> Result:
        """Return the result with copies of mutable values. Raises Uncopyable."""
        mutable = self.mutable
        if not mutable:
            return self.original  # its rows are tuples of immutable values, so it needs no copy
        try:
            return replace(self.original, rows=tuple(_fresh_row(row, mutable) for row in self.original.rows))
        except RecursionError:
            raise Uncopyable from None


def _mutable_columns(result: Result) -> tuple[int, ...]:
    words = result.types or [None] * len(result.names)
    unknown = [position for position, word in enumerate(words) if word not in _IMMUTABLE_WORDS]
    return tuple(
        position for position in unknown if not set(map(type, map(itemgetter(position), result.rows))) <= _IMMUTABLE
    )


def _fresh_row(row: tuple[Any, ...], mutable: tuple[int, ...]) -> tuple[Any, ...]:
    values = list(row)
    for position in mutable:
        values[position] = fresh(values[position])
    return tuple(values)


def fresh(value: Any) -> Any:
    """Copy a value and its mutable parts. Raises Uncopyable for an unknown type, and RecursionError for deep
    nesting."""
    kind = type(value)
    if kind in _IMMUTABLE:
        return value
    if kind is dict:
        return {fresh(name): fresh(item) for name, item in value.items()}
    if kind is list:
        return [fresh(item) for item in value]
    if kind is tuple:
        return tuple(fresh(item) for item in value)
    if kind is set or kind is frozenset:
        return kind(fresh(item) for item in value)
    if kind is memoryview:
        return memoryview(bytes(value))
    if kind is bytearray:
        return bytearray(value)
    raise Uncopyable
