"""The records of usage: what each group has had, by the hour and the data source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

OTHER_GROUPS: Final = ("", "(others)")
"""The environment and id under which groups are counted together that came when there were too many. No environment
has an empty name."""


class Usage(NamedTuple):
    """Of one group. ``seconds``: those in which a connection of a data source was in use for it."""

    queries: int = 0
    rows: int = 0
    seconds: float = 0.0
    resolves: int = 0

    def plus(self, other: Usage) -> Usage:
        """Both together. Seconds are kept to a millionth, so that a sum does not depend on the order."""
        seconds = round(self.seconds + other.seconds, 6)
        return Usage(self.queries + other.queries, self.rows + other.rows, seconds, self.resolves + other.resolves)


class UsageKey(NamedTuple):
    """Whose usage it is: the environment's name, the group's id, and the id of the data source; "" for resolves, which
    need none. Not the group's handle: what a group has used stays when it is deleted, and one that is made again with
    the same id is the same customer."""

    environment: str
    group: str
    source: str


class HourlyUsage(NamedTuple):
    """What was used in the hour that begins at ``hour``: an aware datetime in UTC."""

    hour: datetime
    key: UsageKey
    usage: Usage


@dataclass(frozen=True, slots=True)
class UsageBatch:
    """What a writer adds in one go. Its batches are numbered from 1, in the order in which they are sent; one that is
    sent again, because nobody knows whether it arrived, has the number that it had."""

    writer: bytes
    """16 random bytes, drawn by each process that counts."""
    number: int
    rows: Sequence[HourlyUsage]
