from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""The environment and id for groups beyond the limit; no environment has an empty name."""


class Usage(NamedTuple):
    """Usage of a group; ``seconds``: connection time."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    resolves: int = 0

    def plus(self, other: Usage) -> Usage:
        """Add, rounding seconds to a microsecond so that order does not matter."""
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """Environment name, group id and data source id ("" for resolves). Has no handle: a recreated group is the same
    customer."""

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
    """A writer's batch, numbered from 1; a retry keeps its number."""

    writer: bytes
    """16 random bytes of the process."""
    number: int
    rows: Sequence[HourlyUsage]
