"""UsageCounter: the protocol that counts usage of groups; GroupUsage counts it in memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Final, Protocol, TypeVar

from tenantry.groups import OTHER_GROUPS, Usage

K = TypeVar("K", bound=Hashable)


class UsageCounter(Protocol):
    """Counts the usage of groups. It is called in the event loop, for each query and each resolved token: be fast."""

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        resolves: int = 0,
        queries: int = 0,
        rows: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """Add usage of a group at the data source with the id ``source`` (``ds_…``).

        ``resolves`` are tokens whose group was found. If several groups share one running query, each of them gets its
        ``queries`` and ``rows``, but only the first the ``seconds`` of the connection. Must not raise.
        """
        ...


class UsageTable(dict[K, list[int]]):
    """Sums by key: queries, rows, microseconds, resolves. When it has ``limit`` rows, a new key is counted under
    ``other(key)``."""

    def __init__(self, limit: int, other: Callable[[K], K]) -> None:
        super().__init__()
        self.limit: Final = limit
        self._other = other

    def __missing__(self, key: K) -> list[int]:
        return self.setdefault(key if len(self) < self.limit else self._other(key), [0, 0, 0, 0])

    def take(self, count: int | None = None) -> dict[K, Usage]:
        """Remove the oldest ``count`` rows (default: all), and return them."""
        taken = {key: self.pop(key) for key in list(islice(self, count))}
        return {key: _usage(*row) for key, row in taken.items()}


def _usage(queries: int, rows: int, micros: int, resolves: int) -> Usage:
    return Usage(queries, rows, micros / 1e6, resolves)


class GroupUsage:
    """Counts the usage of ``max_groups`` groups in memory. All other groups are counted together, as
    ``OTHER_GROUPS``."""

    def __init__(self, max_groups: int = 10_000) -> None:
        self._table: UsageTable[tuple[str, str]] = UsageTable(max_groups, lambda _: OTHER_GROUPS)

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        resolves: int = 0,
        queries: int = 0,
        rows: int = 0,
        seconds: float = 0.0,
    ) -> None:
        found = self._table[environment, group]
        found[0] += queries
        found[1] += rows
        found[2] += round(seconds * 1e6)
        found[3] += resolves

    def take(self) -> dict[tuple[str, str], Usage]:
        """Return the counts by environment and group, and begin again with none."""
        return self._table.take()
