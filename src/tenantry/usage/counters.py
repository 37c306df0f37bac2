from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Final, Protocol, TypeVar

from tenantry.groups import OTHER_GROUPS, Usage

K = TypeVar("K", bound=Hashable)


class UsageCounter(Protocol):
    """Receives the usage of each query and each resolved token. It is called in the event loop, so it must be fast."""

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        viewer: str | None = None,
        resolves: int = 0,
        queries: int = 0,
        rows: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """Count usage of a group. Never raises.

        - ``source``: the id of a data source (``ds_…``).
        - ``viewer``: the viewer's id, from the pass.
        - ``resolves``: the number of tokens whose group was found.
        - ``seconds``: how long the query held a connection. If groups share a query, only the first group gets the
          time; ``queries`` and ``rows`` are counted for each group."""
        ...


class UsageTable(dict[K, list[int]]):
    """Sums of usage by key. Once the table has ``limit`` rows, usage of a new key is added to the row
    ``other(key)``."""

    def __init__(self, limit: int, other: Callable[[K], K]) -> None:
        super().__init__()
        self.limit: Final = limit
        self._other = other

    def __missing__(self, key: K) -> list[int]:
        return self.setdefault(key if len(self) < self.limit else self._other(key), [0, 0, 0, 0])

    def take(self, count: int | None = None) -> dict[K, Usage]:
        taken = {key: self.pop(key) for key in list(islice(self, count))}
        return {key: _usage(*row) for key, row in taken.items()}


def _usage(queries: int, rows: int, micros: int, resolves: int) -> Usage:
    return Usage(queries, rows, micros / 1e6, resolves)


class GroupUsage:
    """Sums of usage by group. Groups beyond the first ``max_groups`` are counted together as ``OTHER_GROUPS``."""

    def __init__(self, max_groups: int = 10_000) -> None:
        self._table: UsageTable[tuple[str, str]] = UsageTable(max_groups, lambda _: OTHER_GROUPS)

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        viewer: str | None = None,
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
        """Remove and return the counts."""
        return self._table.take()
