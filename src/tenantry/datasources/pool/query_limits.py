from __future__ import annotations

import marshal
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from sys import getsizeof
from typing import Any

from tenantry.datasources.driver import OpenRows, query_error, too_many_bytes_error, too_many_rows_error
from tenantry.datasources.results import Result
from tenantry.errors import InvalidSettings
from tenantry.groups import UserGroup

_SMALL = 32
"""Bytes counted for each value. Strings and other large values add their size."""
_FLAT = frozenset({int, float, bool, type(None)})
_NESTED = (dict, list, tuple)
_FIXED_SIZE = frozenset({"boolean", "integer", "decimal", "float", "date", "time", "datetime", "interval", "uuid"})
_TEXTS = frozenset({"text", "bytes"})
_LONGEST = 128
"""Maximum number of rows to take from a cursor before their bytes are counted."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """The limits of one stream; times in seconds. Raises InvalidSettings for an invalid limit."""

    row_limit: int = 1_000_000
    """Maximum number of rows."""
    max_bytes: int = 1024 * 1024 * 1024
    """Maximum bytes of the output."""
    timeout: float = 600.0
    """Maximum duration."""
    reader_timeout: float = 30.0
    """Maximum seconds to wait until the reader asks for the next chunk."""

    def __post_init__(self) -> None:
        _check_seconds(self, "timeout", "reader_timeout")
        _check_counts(self, "row_limit", "max_bytes")

    @property
    def timeout_ms(self) -> int:
        """``timeout`` in milliseconds, at least 1."""
        return _milliseconds(self.timeout)


@dataclass(frozen=True, slots=True)
class Sharing:
    """How groups share the connections of a source. Raises InvalidSettings for an invalid limit."""

    group_pool_size: int | None = None
    """Maximum number of connections of one group; None: two thirds of all, rounded."""
    max_waiting: int = 1_000
    """Maximum number of waiting queries of all groups."""
    group_max_waiting: int = 200
    """Maximum number of waiting queries of one group."""
    weight: Callable[[UserGroup], float] | None = None
    """Returns a number above 0: a group of weight 2 gets twice the connection time of a group of weight 1. None: every
    group has weight 1."""

    def __post_init__(self) -> None:
        _check_counts(self, "max_waiting", "group_max_waiting")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of data sources; times in seconds. Raises InvalidSettings for an invalid limit."""

    timeout: float = 30.0
    """Maximum duration of a query. For a stream, the maximum time to wait for the next rows."""
    row_limit: int = 10_000
    """Maximum number of rows of a query."""
    max_bytes: int = 32 * 1024 * 1024
    """Maximum bytes of a query's rows in memory."""
    pool_size: int = 5
    """Maximum number of connections of one source."""
    connect_timeout: float = 5.0
    """Maximum time to open a connection."""
    max_sources: int = 64
    """Maximum number of open sources."""
    sharing: Sharing = field(default_factory=Sharing)
    stream: StreamLimits = field(default_factory=StreamLimits)
    """Replaces ``row_limit`` and ``max_bytes`` for streams."""
    lock_timeout: float | None = None
    """On PostgreSQL, the maximum time that a query waits for a lock; None: the setting of the server."""

    def __post_init__(self) -> None:
        _check_seconds(self, "timeout", "connect_timeout", *["lock_timeout"] * (self.lock_timeout is not None))
        _check_counts(self, "row_limit", "max_bytes", "pool_size", "max_sources")
        share: Any = self.sharing.group_pool_size
        if share is not None and not (type(share) is int and 0 < share <= self.pool_size):
            raise InvalidSettings(f"group_pool_size is {share!r}; it must be None or an integer from 1 to pool_size")

    @property
    def wait(self) -> float:
        """Seconds that a query may wait for a connection: the longer of ``timeout`` and ``connect_timeout``."""
        return max(self.timeout, self.connect_timeout)

    @property
    def timeout_ms(self) -> int:
        """``timeout`` in milliseconds, at least 1."""
        return _milliseconds(self.timeout)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _check_seconds(limits: object, *names: str) -> None:
    for name in names:
        value = getattr(limits, name)
        if not (_is_number(value) and math.isfinite(value) and value > 0):
            raise InvalidSettings(f"{name} is {value!r}; it must be a number of seconds greater than 0")


def _check_counts(limits: object, *names: str) -> None:
    for name in names:
        value = getattr(limits, name)
        if not (_is_number(value) and isinstance(value, int) and value > 0):
            raise InvalidSettings(f"{name} is {value!r}; it takes a whole number above 0")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def count_bytes(rows: Sequence[Sequence[Any]]) -> int:
    """Return the bytes that the values take in memory, except int, float, bool and None."""
    return _sizes([value for row in rows for value in row if type(value) not in _FLAT])


def take_result(
    source_id: str,
    columns: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    limits: Limits,
    *,
    types: Sequence[str | None] | None = None,
    arrow_types: Sequence[str | None] | None = None,
    count: Callable[[Sequence[tuple[Any, ...]]], int] | None = count_bytes,
) -> Result:
    """Read a cursor's rows and return them as a Result. Raises TooManyRows or TooManyBytes if a limit is exceeded, and
    QueryFailed for duplicate column names.

    Each value counts as 32 bytes; ``count`` returns the bytes to add for large values. ``count=None`` adds an estimate,
    which is faster, but works only for int, float, bool, str, bytes and None.
    """
    if len(set(columns)) < len(columns):
        check_names(source_id, columns)
    rows, size, taken, left = iter(rows), 1, list[tuple[Any, ...]](), limits.max_bytes
    while chunk := list(islice(rows, min(size, limits.row_limit + 1 - len(taken)))):
        taken += chunk
        if len(taken) > limits.row_limit:
            raise too_many_rows_error(source_id, limits.row_limit)
        # marshal writes about as many bytes as these values take in memory, and is four times faster than measuring
        # each value.
        used = len(marshal.dumps(chunk, 2)) if count is None else count(chunk)
        used += _SMALL * len(chunk) * len(chunk[0])
        left -= used
        if left < 0:
            raise too_many_bytes_error(source_id, limits.max_bytes)
        size = max(1, min(2 * size, _LONGEST, left * len(chunk) // (2 * used + 1)))
    return Result(tuple(columns), taken, types, size=limits.max_bytes - left, arrow_types=arrow_types)


def take_open_rows(source_id: str, opened: OpenRows, limits: Limits) -> Result:
    """Like ``take_result``, for a running query, which the caller must close."""
    types = opened.types or ()
    count = bytes_counter(types)
    return take_result(
        source_id, opened.names, opened.rows, limits, types=types, arrow_types=opened.arrow_types, count=count
    )


def bytes_counter(
    types: Sequence[str | None], *, unbounded: Collection[str] = ()
) -> Callable[[Sequence[Sequence[Any]]], int]:
    """Return a faster ``count_bytes`` for columns of these types. The bytes of numbers and times are counted only if
    their type is in ``unbounded``."""
    flat, deep = [], []
    for position, word in enumerate(types):
        if word in _TEXTS or word in unbounded:
            flat.append(itemgetter(position))
        elif word not in _FIXED_SIZE:
            deep.append(itemgetter(position))

    def count(rows: Sequence[Sequence[Any]]) -> int:
        return sum(_flat_size([*map(get, rows)]) for get in flat) + sum(_sizes([*map(get, rows)]) for get in deep)

    return count


def _flat_size(values: Sequence[Any]) -> int:
    try:
        return sum(map(str.__sizeof__, values))
    except TypeError:  # the values are bytes, or one of them is None
        return sum(map(getsizeof, values))


def _sizes(values: Sequence[Any]) -> int:
    total = sum(map(getsizeof, values))
    for value in values:
        if isinstance(value, _NESTED):
            total += _sizes([*value, *value.values()] if isinstance(value, dict) else value)
    return total


def check_names(source_id: str, columns: Sequence[str]) -> None:
    """Raise QueryFailed for duplicate column names."""
    seen: dict[str, int] = {}
    for position, name in enumerate(columns, 1):
        first = seen.setdefault(name, position)
        if first != position:
            # The error gives positions and not names, because a name may be a value. Some clients write values into the
            # SQL, and an engine names an unnamed column after its value.
            raise query_error(source_id, f"columns {first} and {position} have the same name; name one of them with AS")
