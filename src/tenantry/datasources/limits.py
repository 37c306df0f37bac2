"""Limits: what one query, one data source, and all of them together may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tenantry.errors import InvalidSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of data sources. Times are seconds.

    ``timeout`` is for one query, ``row_limit`` for the rows it may give, ``max_bytes`` for the memory that their values
    may take, ``pool_size`` for the connections (and so
    queries at once) of one source, ``connect_timeout`` for getting one of them, free or new, ``max_sources`` for the
    sources open at once. Raises InvalidSettings when a bound is none.
    """

    timeout: float = 30.0
    row_limit: int = 10_000
    max_bytes: int = 32 * 1024 * 1024
    pool_size: int = 5
    connect_timeout: float = 5.0
    max_sources: int = 64

    def __post_init__(self) -> None:
        for name in ("timeout", "connect_timeout"):
            value = getattr(self, name)
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                raise InvalidSettings(f"{name} is {value!r}; it takes a number of seconds above 0")
        for name in ("row_limit", "max_bytes", "pool_size", "max_sources"):
            value = getattr(self, name)
            if not (_is_number(value) and isinstance(value, int) and value > 0):
                raise InvalidSettings(f"{name} is {value!r}; it takes a whole number above 0")

    @property
    def timeout_ms(self) -> int:
        """``timeout`` in whole milliseconds, never 0: to every server 0 means "no limit"."""
        return max(1, round(self.timeout * 1000))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
