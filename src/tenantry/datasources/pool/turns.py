"""Turns: which of the queries that wait for one data source gets its next connection.

Each group has a queue, in the order of arrival. The next connection goes to the group that used the least of the
source: seconds of connections divided by its weight, where a running query counts as it runs. A group that comes back
after a pause has no credit for the pause (start-time fair queueing: Goyal, Vin and Cheng, 1996).

No order helps a query while all connections are held for long. So one group holds two thirds of them at most (where
``group_pool_size`` says nothing else), and so do all streams and all queries of long-running groups together. The last
third is for short queries. Thirteen short queries of a group then take at most three times as long as alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from tenantry.datasources.driver import busy_error, closing_error, queue_error
from tenantry.datasources.group_turns import GroupTurns

if TYPE_CHECKING:
    from tenantry.datasources.pool.limits import Limits
    from tenantry.errors import SourceUnavailable

SLICE: Final = 5.0
"""Seconds after which a stream gives way, on a source with one connection, to a query of another group."""

LONG_EVERY: Final = 15.0
"""Seconds within which a source with one connection begins one stream or query of a long-running group, while short
queries wait."""

BARRED_SECONDS: Final = 60.0
"""For so long a group has one stream less after one that was ended because its reader was slow."""

_LEARNED_SECONDS: Final = 60.0
"""For so long a limit of the server is believed. Then more connections are tried again."""
_PAUSE_SECONDS: Final = 0.1
"""A server that refuses several at once may have room for one, and one that closes a connection needs a moment."""
_PAUSES: Final = 3
_REMEMBERED: Final = 64
"""Groups that have nothing here and are remembered all the same."""

_log = logging.getLogger(__name__)


def share(size: int) -> int:
    """Two thirds of so many connections: at least one, and of two or more not all."""
    return size - (size + 1) // 3


class Turn:
    """A query's place in the queue, and then its connection, until ``end``. ``came`` is True when a connection is free
    for it, False when it has lost its place."""

    __slots__ = ("_turns", "began", "came", "group", "has_ended", "is_kept", "is_stream", "number", "pauses")

    def __init__(self, turns: Turns, group: GroupTurns, number: int, *, is_stream: bool) -> None:
        self._turns = turns
        self.group: Final = group
        self.number: Final = number
        self.is_stream: Final = is_stream
        self.came: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.began: float = 0.0
        self.has_ended: bool = False
        self.pauses: int = 0
        self.is_kept: bool = False
        """Whether a source has the connection: then the source ends the turn, when the connection is free."""

    async def wait(self) -> None:
        """Waits until it has come. Raises SourceUnavailable when it has lost its place or has waited for
        ``Limits.wait``. After an error, and when it is cancelled, the turn has ended."""
        has_come = None
        try:
            async with asyncio.timeout(self._turns.limits.wait):
                has_come = await asyncio.shield(self.came)
        except TimeoutError:
            pass
        finally:
            if not has_come:
                self.end()
        if not has_come:
            raise self._turns.lost_error(self.group) if has_come is False else busy_error(self._turns.source_id)

    def leave(self) -> None:
        """Ends it, unless a source has the connection."""
        if not self.is_kept and not self.has_ended:
            self.end()

    def end(self) -> None:
        """Gives up the place or the connection. The second time nothing happens."""
        self._turns.end(self)

    def refuse(self, idle: int) -> bool:
        """The server gave no connection: waits for one of those that the source has, of which ``idle`` are not used.
        False where it has none, also after some pauses."""
        return self._turns.refuse(self, idle)

    def bar(self) -> None:
        """For a stream that is ended because its reader was slow: asking again at once gains nothing."""
        self._turns.bar(self.group)

    @property
    def must_yield(self) -> bool:
        """Whether it is a stream that had its slice of the only connection, and another group waits for it."""
        return self._turns.must_yield(self)


class Turns:
    """The turns at one data source, for one event loop."""

    def __init__(self, source_id: str, limits: Limits) -> None:
        self.source_id: Final = source_id
        self.limits: Final = limits
        self.waiting: int = 0
        """Queries and streams that wait now."""
        self._running: set[Turn] = set()
        self._groups: dict[Hashable, GroupTurns] = {}
        self._asking: dict[GroupTurns, None] = {}  # those that wait
        self._number = 0
        self._clock = 0.0  # what the group that was served last had used
        self._sweep_at = _REMEMBERED
        self._learned: int | None = None
        self._believed_until = 0.0
        self._is_closed = False
        self._pauses = 0
        self._long_began = -LONG_EVERY

    @property
    def running(self) -> int:
        """Connections that are in use."""
        return len(self._running)

    def ask(self, group: Hashable, weight: float = 1.0, *, is_stream: bool = False) -> Turn:
        """A turn, which has come already if the group may have a connection now. Twice the ``weight`` (above 0) is
        twice the time. Raises SourceUnavailable when no more may wait."""
        own = self._groups.get(group)
        if own is None:
            own = self._groups[group] = GroupTurns(weight)
        if not own.running and not own.waiting:
            own.used = max(own.used, self._clock)
        self._number += 1
        now = self._now()
        turn = Turn(self, own, self._number, is_stream=is_stream)
        is_idle = not (self._running or self.waiting or is_stream or self._pauses)  # the common case
        if is_idle or (not self.waiting and self._may_start(turn, now, self._long_turns(now))):
            self._start(turn, now)
        else:
            self._free_place(own)
            self._queue(turn)
            self._serve()
        return turn

    def end(self, turn: Turn) -> None:
        """See ``Turn.end``."""
        turn.has_ended, turn.is_kept = True, False
        if turn in self._running:
            self._running.discard(turn)
            turn.group.charge(turn, self._now())
            if self.waiting:
                self._serve()
        elif not turn.came.done():
            self._unqueue(turn)
            turn.came.set_result(False)
        if len(self._groups) > self._sweep_at:
            self._sweep()

    def refuse(self, turn: Turn, idle: int) -> bool:
        """See ``Turn.refuse``."""
        known = len(self._running) - 1 + idle
        if not known and turn.pauses == _PAUSES:
            return False
        if self._learned is None:
            _log.warning(
                "the server of data source %s gives fewer connections than pool_size: queries wait for those that it "
                "gives",
                self.source_id,
            )
        now, loop = self._now(), asyncio.get_running_loop()
        self._learned, self._believed_until = max(known, 1), now + _LEARNED_SECONDS
        loop.call_later(_LEARNED_SECONDS + _PAUSE_SECONDS, self._serve)
        if not known:
            turn.pauses += 1
            self._pauses += 1
            loop.call_later(_PAUSE_SECONDS, self._go_on)
        turn.is_kept = False
        turn.came = loop.create_future()
        self._running.discard(turn)
        turn.group.charge(turn, now)
        self._queue(turn, first=True)
        self._serve()
        return True

    def bar(self, group: GroupTurns) -> None:
        """See ``Turn.bar``."""
        group.barred += 1
        asyncio.get_running_loop().call_later(BARRED_SECONDS, self._unbar, group)

    def must_yield(self, turn: Turn) -> bool:
        """See ``Turn.must_yield``."""
        if not turn.is_stream or self.waiting == turn.group.waiting:
            return False
        now = self._now()
        return self._size(now) == 1 and now - turn.began >= SLICE

    def close(self) -> None:
        """The source is about to be closed: those that wait lose their places."""
        self._is_closed = True
        for group in [*self._asking]:
            for turn in [*group.queries, *group.streams]:
                turn.end()

    def lost_error(self, group: GroupTurns) -> SourceUnavailable:
        """The error of a turn of this group that has no place in the queue."""
        if self._is_closed:
            return closing_error(self.source_id)
        return queue_error(self.source_id, self.waiting, group.waiting)

    # --- who is next --------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while self.waiting:
            now = self._now()
            long_turns = self._long_turns(now)
            first = [
                queue[0]
                for group in self._asking
                for queue in (group.queries, group.streams)
                if queue and self._may_start(queue[0], now, long_turns)
            ]
            if not first:
                return
            turn = self._next(first, now)
            self._unqueue(turn)
            self._start(turn, now)

    def _next(self, turns: list[Turn], now: float) -> Turn:
        """Of those that may start. One connection begins one long turn within ``LONG_EVERY`` while short ones wait."""
        if self._size(now) == 1:
            short = [turn for turn in turns if not turn.is_stream and not turn.group.is_long(now)]
            if short and now - self._long_began < LONG_EVERY:
                turns = short
        turn = min(turns, key=lambda turn: (turn.group.used_at(now), turn.is_stream, turn.number))
        if turn.is_stream or turn.group.is_long(now):
            self._long_began = now
        return turn

    def _may_start(self, turn: Turn, now: float, long_turns: int) -> bool:
        group, size = turn.group, self._size(now)
        most = share(size)
        each = self.limits.group_pool_size or most
        if len(self._running) >= size or len(group.running) >= each:
            return False
        if turn.is_stream:
            streams = group.barred + sum(other.is_stream for other in group.running)
            own = min(each, most) if self.limits.group_pool_size else share(most)  # by default others stream too
            return long_turns < most and streams < own
        if long_turns < max(each, most) or not group.is_long(now):
            return True
        return all(turn.is_stream or not turn.group.is_long(now) for turn in self._running)  # streams alone hold no one

    def _go_on(self) -> None:
        self._pauses -= 1
        self._serve()

    def _long_turns(self, now: float) -> int:
        return sum(turn.is_stream or turn.group.is_long(now) for turn in self._running)

    def _size(self, now: float) -> int:
        """The connections that there may be."""
        if self._learned is not None and now < self._believed_until:
            return 0 if self._pauses else self._learned
        return self.limits.pool_size

    def _start(self, turn: Turn, now: float) -> None:
        self._clock = max(self._clock, turn.group.used_at(now))
        turn.began = now
        turn.group.running.add(turn)
        self._running.add(turn)
        turn.came.set_result(True)

    # --- who waits ----------------------------------------------------------------------------------------------------

    def _free_place(self, own: GroupTurns) -> None:
        """Where no more may wait, the group with most of those that wait gives up a place to one with fewer."""
        if own.waiting >= self.limits.group_max_waiting:
            raise self.lost_error(own)
        if self.waiting < self.limits.max_waiting:
            return
        longest = max(self._asking, key=lambda group: group.waiting)
        if longest.waiting <= own.waiting + 1:
            raise self.lost_error(own)
        longest.last().end()

    def _queue(self, turn: Turn, *, first: bool = False) -> None:
        queue = turn.group.queue_of(turn)
        if first:
            queue.appendleft(turn)
        else:
            queue.append(turn)
        self.waiting += 1
        self._asking[turn.group] = None

    def _unqueue(self, turn: Turn) -> None:
        turn.group.queue_of(turn).remove(turn)
        self.waiting -= 1
        if not turn.group.waiting:
            del self._asking[turn.group]

    def _unbar(self, group: GroupTurns) -> None:
        group.barred -= 1
        self._serve()

    # --- groups -------------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _sweep(self) -> None:
        """Bounds the memory: a group that is forgotten comes back as a new one."""
        now = self._now()
        self._groups = {key: group for key, group in self._groups.items() if not group.is_forgettable(now)}
        self._sweep_at = 2 * len(self._groups) + _REMEMBERED
