"""The records of usage by group, hour and data source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""The environment and id for groups beyond the limit; no environment has an empty name."""


class Usage(NamedTuple):
    """The usage of one group. ``seconds``: the time during which it used a connection of a data source."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    resolves: int = 0

    def plus(self, other: Usage) -> Usage:
        """The sum. Seconds are rounded to a microsecond, so the order of additions does not matter."""
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """The environment's name, the group's id, and the id of the data source; "" for resolves.

    Not the group's handle: usage outlives the group, and a new group with the same id is the same customer."""

    environment: str
    group: str
    source: str


class HourlyUsage(NamedTuple):
    """The usage in the hour that begins at ``hour`` (aware, UTC)."""

    hour: datetime
    key: UsageKey
    usage: Usage


@dataclass(frozen=True, slots=True)
class UsageBatch:
    """A batch of one writer, numbered from 1; a batch that is sent again keeps its number."""

    writer: bytes
    """16 random bytes of the process."""
    number: int
    rows: Sequence[HourlyUsage]
