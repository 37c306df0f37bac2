from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""A process counts only a limited number of groups separately. It sums the usage of all others under this environment
and id. No real environment has an empty name."""

OTHER_VIEWERS: Final = "(others)"
"""A process counts only a limited number of a group's viewers separately. It sums the usage of the group's other
viewers under this id, together with any viewer whose real id is ``(others)``."""


class Usage(NamedTuple):
    """The usage of a group."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    """How long, in seconds, queries held a connection of a data source."""
    resolves: int = 0
    """Number of look-ups of the group's tokens."""

    def plus(self, other: Usage) -> Usage:
        """Return the sum. Its seconds are rounded to microseconds."""
        # Otherwise the sum could depend on the order of additions.
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """Identifies a sum of usage: its group or viewer, and its data source."""

    environment: str
    group: str
    """The group's ``provided_id``. If a group is deleted and created again, its sums are kept, its viewers' are not."""
    source: str
    """The id of the data source. Empty in a viewer's sum, and in the group's sum of ``resolves``."""
    viewer: str = ""
    """The viewer's id in a viewer's sum. Empty in a group's sum, which includes the usage of its viewers."""


class HourlyUsage(NamedTuple):
    """The usage of a group in one hour or, if ``key`` names a viewer, of that viewer in one day."""

    hour: datetime
    """When the hour or day begins (aware, UTC)."""
    key: UsageKey
    usage: Usage


@dataclass(frozen=True, slots=True)
class UsageBatch:
    """Usage that one UsageRecorder reports in one write."""

    writer: bytes
    """16 random bytes that identify the recorder."""
    number: int
    """The number of the batch, counted from 1 in each recorder. A batch that is sent again keeps its number."""
    rows: Sequence[HourlyUsage]
