from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""When a process counts too many groups separately, it sums the usage of further groups under this environment and id.
No real environment has an empty name."""

OTHER_VIEWERS: Final = "(others)"
"""When a process counts too many viewers separately, it sums the usage of a group's further viewers under this id. A
viewer with this id is counted here too."""


class Usage(NamedTuple):
    """The usage of a group."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    """Seconds during which queries held a connection of a data source."""
    resolves: int = 0
    """Look-ups of the group's tokens."""

    def plus(self, other: Usage) -> Usage:
        """Return the sum. Seconds are rounded to microseconds, so the order of additions does not matter."""
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """Ids, not handles, identify a sum of usage: a group that is deleted and created again keeps its sums."""

    environment: str
    """The name."""
    group: str
    """The ``provided_id``."""
    source: str
    """The id of the data source; "" for ``resolves``."""
    viewer: str = ""
    """The viewer's id in a row of usage by viewer, which also counts in the group's rows. "" in rows of groups."""


class HourlyUsage(NamedTuple):
    """Usage in the hour that begins at ``hour`` (aware, UTC), or of a viewer in the day that begins then."""

    hour: datetime
    key: UsageKey
    usage: Usage


@dataclass(frozen=True, slots=True)
class UsageBatch:
    """Usage that one process reports in one write."""

    writer: bytes
    """16 random bytes that identify the process."""
    number: int
    """Counted from 1 in each process. A retry has the same number."""
    rows: Sequence[HourlyUsage]
