"""GroupTurns: what one group has of a data source, and what it had."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tenantry.datasources.pool.turns import Turn

_SHORT: Final = 1.0
"""Seconds of each query that do not count as long use."""
_LONG: Final = 5.0
_HALF_LIFE: Final = 300.0
"""Seconds after which half of a group's long use is forgotten."""
_FORGOTTEN: Final = 0.5


class GroupTurns:
    """The turns of one group. Times are those of the event loop; ``now`` is one.

    ``used``: seconds of the turns that have ended, divided by ``weight``, on the scale of ``Turns``. ``barred``: how
    many fewer streams the group may run. ``queries`` and ``streams`` wait.
    """

    __slots__ = ("_long", "_long_at", "barred", "queries", "running", "streams", "used", "weight")

    def __init__(self, weight: float) -> None:
        self.weight: Final = weight
        self.used: float = 0.0
        self.barred: int = 0
        self.running: set[Turn] = set()
        self.queries: deque[Turn] = deque()
        self.streams: deque[Turn] = deque()
        self._long = self._long_at = 0.0

    @property
    def waiting(self) -> int:
        """Queries and streams that wait."""
        return len(self.queries) + len(self.streams)

    def queue_of(self, turn: Turn) -> deque[Turn]:
        """Where a turn waits."""
        return self.streams if turn.is_stream else self.queries

    def last(self) -> Turn:
        """The turn that began to wait last. Raises ValueError when none waits."""
        return max((queue[-1] for queue in (self.queries, self.streams) if queue), key=lambda turn: turn.number)

    def used_at(self, now: float) -> float:
        """``used``, and what the running turns have used so far."""
        return self.used + sum(now - turn.began for turn in self.running) / self.weight

    def is_long(self, now: float) -> bool:
        """Whether its queries, each beyond its first second, ran for more than five seconds lately."""
        return self._ended_long(now) + sum(_long_use(turn, now) for turn in self.running) > _LONG

    def is_forgettable(self, now: float) -> bool:
        """Whether nothing is lost when it is forgotten."""
        return not (self.running or self.waiting or self.barred) and self._ended_long(now) < _FORGOTTEN

    def charge(self, turn: Turn, now: float) -> None:
        """Takes a turn out of those that run."""
        self.running.discard(turn)
        self.used += (now - turn.began) / self.weight
        self._long, self._long_at = self._ended_long(now) + _long_use(turn, now), now

    def _ended_long(self, now: float) -> float:
        return self._long * 0.5 ** ((now - self._long_at) / _HALF_LIFE) if self._long else 0.0


def _long_use(turn: Turn, now: float) -> float:
    """Streams do not count: they have a bound that is not their group's."""
    return 0.0 if turn.is_stream else max(0.0, now - turn.began - _SHORT)
