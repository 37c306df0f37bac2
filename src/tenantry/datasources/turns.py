"""Turns: which of the groups that wait for one data source runs its query next.

Each group has a queue of its own, in the order of arrival. The next turn goes to the group that has had the least of
the source, counted in turns divided by its weight; one that comes back after a pause has no credit for the pause. So a
group that sends a hundred queries at once delays another group's query by one turn, not by a hundred (stride
scheduling: Waldspurger and Weihl, 1995).
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field


class QueueFull(Exception):
    """Nobody more may wait. ``waiting`` wait already; ``own`` of them are the same group's."""

    def __init__(self, waiting: int, own: int) -> None:
        super().__init__(f"{waiting} queries wait, {own} of them of the same group")
        self.waiting: int = waiting
        self.own: int = own


@dataclass(slots=True)
class _Group:
    """``used``: its turns so far divided by its weight, on the scale of ``Turns._clock``."""

    weight: float
    used: float = 0.0
    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    queued: bool = False
    """Whether it is in the heap."""


class Turns:
    """Turns at one data source, for one event loop: at most ``running`` at once, ``running_each`` of one group; at most
    ``waiting`` wait, ``waiting_each`` of one group."""

    def __init__(self, running: int, running_each: int, waiting: int, waiting_each: int) -> None:
        self._free = running
        self._running_each = running_each
        self._most_waiting = waiting
        self._most_waiting_each = waiting_each
        self._groups: dict[Hashable, _Group] = {}
        self._heap: list[tuple[float, int, Hashable]] = []
        self._serial = 0  # of entries in the heap: among equals the first to come is the first to go
        self._clock = 0.0  # what the group that was last served had used
        self.waiting: int = 0
        """Queries that wait now."""

    def take_now(self, group: Hashable, weight: float = 1.0) -> bool:
        """Takes a turn if one is free for the group. Twice the ``weight`` (above 0) is twice the turns."""
        own = self._groups.get(group)
        if own is None:
            own = _Group(weight)
        if not self._free or own.waiting or own.running >= self._running_each:
            return False
        self._groups[group] = own
        self._start(group, own)  # nobody waits who could run: else nothing would be free
        return True

    async def take(self, group: Hashable, weight: float = 1.0) -> None:
        """Waits for a turn, which ``give_back`` ends. Raises QueueFull at once."""
        if self.take_now(group, weight):
            return
        turn = self.ask(group, weight)
        try:
            await turn
        except asyncio.CancelledError:
            self.withdraw(group, turn)
            raise

    def ask(self, group: Hashable, weight: float = 1.0) -> asyncio.Future[None]:
        """Where ``take_now`` has none: a place in the queue. It is done when the turn comes, which ``give_back`` ends.
        Raises QueueFull."""
        own = self._groups.get(group) or _Group(weight)
        if self.waiting >= self._most_waiting or len(own.waiting) >= self._most_waiting_each:
            raise QueueFull(self.waiting, len(own.waiting))
        self._groups[group] = own
        turn = asyncio.get_running_loop().create_future()
        own.waiting.append(turn)
        self.waiting += 1
        self._queue(group, own)
        return turn

    def withdraw(self, group: Hashable, turn: asyncio.Future[None]) -> None:
        """Gives up a place in the queue, and the turn if it has come."""
        if turn.done() and not turn.cancelled():
            self.give_back(group)  # the turn came and the cancellation too: somebody else has it
            return
        turn.cancel()
        own = self._groups[group]
        own.waiting.remove(turn)
        self.waiting -= 1
        self._forget(group, own)

    def give_back(self, group: Hashable) -> None:
        """Ends a turn of a group; the next group has it."""
        own = self._groups[group]
        own.running -= 1
        self._free += 1
        if own.waiting or self._heap:
            self._queue(group, own)
            self._serve()
        if not own.running:
            self._forget(group, own)

    def _start(self, group: Hashable, own: _Group) -> None:
        self._clock = max(self._clock, own.used)
        own.used = self._clock + 1.0 / own.weight
        own.running += 1
        self._free -= 1

    def _queue(self, group: Hashable, own: _Group) -> None:
        """Puts a group into the heap if it waits and may run."""
        if own.waiting and not own.queued and own.running < self._running_each:
            own.used = max(own.used, self._clock)  # no credit for the time in which it did not wait
            own.queued = True
            self._serial += 1
            heapq.heappush(self._heap, (own.used, self._serial, group))

    def _serve(self) -> None:
        while self._free and self._heap:
            _, _, group = heapq.heappop(self._heap)
            own = self._groups[group]
            own.queued = False
            turn = next((each for each in own.waiting if not each.done()), None)
            if turn is None:  # each of them has been cancelled
                self._forget(group, own)
                continue
            own.waiting.remove(turn)
            self.waiting -= 1
            self._start(group, own)
            turn.set_result(None)
            self._queue(group, own)

    def _forget(self, group: Hashable, own: _Group) -> None:
        """Drops what is kept of a group that has nothing here."""
        if not own.running and not own.waiting and not own.queued:
            self._groups.pop(group, None)
