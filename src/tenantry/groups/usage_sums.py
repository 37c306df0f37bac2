from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""Environment and id under which a process counts all groups beyond its limit. No real environment has an empty
name."""


class Usage(NamedTuple):
    """What a group used. ``seconds``: time on connections of its data sources; ``resolves``: token look-ups."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    resolves: int = 0

    def plus(self, other: Usage) -> Usage:
        """Return the sum. Seconds are rounded to microseconds, so the order of additions does not matter."""
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """Environment name, group id and data source id ("" for ``resolves``). A handle would not do: a group that is
    created again is the same customer."""

    environment: str
    group: str
    source: str


class HourlyUsage(NamedTuple):
    """Usage in the hour from ``hour`` (aware, UTC)."""

    hour: datetime
    key: UsageKey
    usage: Usage


@dataclass(frozen=True, slots=True)
class UsageBatch:
    """Usage that one process reports at once. It numbers its batches from 1; a retry keeps the number."""

    writer: bytes
    """16 random bytes that identify the process."""
    number: int
    rows: Sequence[HourlyUsage]
