from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tenantry.datasources.pool.fair_queue import Turn

_SHORT: Final = 1.0
"""The time that a query runs beyond this many seconds is its long use. Streams have no long use."""
_LONG: Final = 5.0
"""A group is long-running if its long use exceeds this many seconds."""
_HALF_LIFE: Final = 300.0
"""After this many seconds, the long use of ended queries counts half."""
_FORGOTTEN: Final = 0.5


class GroupQueue:
    """The turns of one group. ``now`` is the event loop's time."""

    __slots__ = ("_long", "_long_at", "barred", "queries", "running", "streams", "used", "weight")

    def __init__(self, weight: float) -> None:
        self.weight: Final = weight
        self.used: float = 0.0
        """Connection time of ended turns in seconds, divided by ``weight``."""
        self.barred: int = 0
        """The group's maximum number of streams is reduced by this number."""
        self.running: set[Turn] = set()
        self.queries: deque[Turn] = deque()
        self.streams: deque[Turn] = deque()
        self._long = self._long_at = 0.0

    @property
    def waiting(self) -> int:
        return len(self.queries) + len(self.streams)

    def queue_of(self, turn: Turn) -> deque[Turn]:
        return self.streams if turn.is_stream else self.queries

    def newest(self) -> Turn:
        return max((queue[-1] for queue in (self.queries, self.streams) if queue), key=lambda turn: turn.number)

    def used_at(self, now: float) -> float:
        """Return what ``used`` would be if the running turns ended now."""
        return self.used + sum(now - turn.began for turn in self.running) / self.weight

    def is_long(self, now: float) -> bool:
        return self._ended_long(now) + sum(_long_use(turn, now) for turn in self.running) > _LONG

    def is_forgettable(self, now: float) -> bool:
        return not (self.running or self.waiting or self.barred) and self._ended_long(now) < _FORGOTTEN

    def charge(self, turn: Turn, now: float) -> None:
        self.running.discard(turn)
        self.used += (now - turn.began) / self.weight
        self._long, self._long_at = self._ended_long(now) + _long_use(turn, now), now

    def _ended_long(self, now: float) -> float:
        return self._long * 0.5 ** ((now - self._long_at) / _HALF_LIFE) if self._long else 0.0


def _long_use(turn: Turn, now: float) -> float:
    return 0.0 if turn.is_stream else max(0.0, now - turn.began - _SHORT)
