"""Usage: how many queries, rows and seconds of its data sources each group has had."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

OTHER_GROUPS: Final = ("", "(others)")
"""The environment and id under which groups are counted together that came when there were too many."""


class UsageCounter(Protocol):
    """What is given the usage of groups: called in the event loop for each query, so it must be quick."""

    def add(self, environment: str, group: str, *, queries: int = 0, rows: int = 0, seconds: float = 0.0) -> None:
        """More of it, for the group with this id in the environment of this name. Raises nothing.

        A query and its rows are counted for the group that asked, wherever the answer came from. The seconds are those
        in which a connection was in use, for the group that asked first.
        """
        ...


class Usage(NamedTuple):
    """Of one group."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0


class GroupUsage:
    """A UsageCounter in memory, for ``max_groups`` groups; those that come later are counted under ``OTHER_GROUPS``."""

    def __init__(self, max_groups: int = 10_000) -> None:
        self._max_groups = max_groups
        self._counts: dict[tuple[str, str], list[float]] = {}

    def add(self, environment: str, group: str, *, queries: int = 0, rows: int = 0, seconds: float = 0.0) -> None:
        """Adds to the group's."""
        found = self._counts.get((environment, group))
        if found is None:
            key = (environment, group) if len(self._counts) < self._max_groups else OTHER_GROUPS
            found = self._counts.setdefault(key, [0, 0, 0.0])
        found[0] += queries
        found[1] += rows
        found[2] += seconds

    def take(self) -> dict[tuple[str, str], Usage]:
        """What was counted since the last call, by environment and group; it begins anew."""
        counts, self._counts = self._counts, {}
        return {key: Usage(int(queries), int(rows), seconds) for key, (queries, rows, seconds) in counts.items()}
