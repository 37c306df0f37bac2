"""FairQueue: start-time fair queueing (Goyal, Vin and Cheng, 1996) for the connections of a data source."""

# The next connection goes to the group that has used the least connection time, divided by its weight. A group gets no
# credit for time in which it was idle. One group may use its `share` of the connections: two thirds, rounded. All
# streams and the queries of all long-running groups together may also use at most this share.

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from tenantry.datasources.driver import busy_error, closing_error, queue_error
from tenantry.datasources.pool.group_queue import GroupQueue

if TYPE_CHECKING:
    from tenantry.datasources.pool.query_limits import Limits
    from tenantry.errors import SourceUnavailable

SLICE: Final = 5.0
"""A stream on a source's only connection is stopped after this many seconds if another group is waiting."""

LONG_EVERY: Final = 15.0
"""On a source with a single connection, at most one long turn begins in this many seconds while short queries wait. A
long turn is a stream, or a query of a group whose recent queries took long."""

BARRED_SECONDS: Final = 60.0
"""After a stream was stopped because its reader was slow, the group may run one stream fewer for this many seconds."""

_LEARNED_SECONDS: Final = 60.0
"""When the server refuses a connection, the queue uses only the connections that are open. After this many seconds, it
again uses up to ``pool_size`` connections."""
# The server needs a moment to free closed connections.
_PAUSE_SECONDS: Final = 0.1
"""When the server refuses a connection and the source has no other, the queue waits this many seconds."""
_PAUSES: Final = 3
"""How many times a turn may wait ``_PAUSE_SECONDS`` before its query fails."""
_REMEMBERED: Final = 64
"""When the queue has more groups than this number, it forgets idle groups. The next limit is this number plus twice the
number of groups that remain."""

_log = logging.getLogger(__name__)


def share(size: int) -> int:
    return size - (size + 1) // 3


class Turn:
    """The place of a query or stream in the queue. Once the turn has a connection, the query may use it until
    ``FairQueue.release``."""

    __slots__ = ("began", "came", "group", "has_ended", "is_kept", "is_stream", "number", "pauses", "queue")

    def __init__(self, queue: FairQueue, group: GroupQueue, number: int, *, is_stream: bool) -> None:
        self.queue: Final = queue
        self.group: Final = group
        self.number: Final = number
        self.is_stream: Final = is_stream
        self.came: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Its result is True when the turn gets a connection, False if the turn is released first."""
        self.began: float = 0.0
        self.has_ended: bool = False
        self.pauses: int = 0
        self.is_kept: bool = False
        """Whether a ConnectionPool has taken over the turn and will release it."""

    async def wait(self) -> None:
        """Wait for a connection. If a full or closed queue drops the turn, or after ``Limits.wait`` seconds, release
        the turn and raise SourceUnavailable."""
        has_come, queue = None, self.queue
        try:
            async with asyncio.timeout(queue.limits.wait):
                has_come = await asyncio.shield(self.came)
        except TimeoutError:
            pass
        finally:
            if not has_come:
                queue.release(self)
        if not has_come:
            raise queue.lost_error(self.group) if has_come is False else busy_error(queue.source_id)

    def leave(self) -> None:
        """Release the turn, unless a ConnectionPool has taken it over."""
        if not self.is_kept and not self.has_ended:
            self.queue.release(self)


class FairQueue:
    def __init__(self, source_id: str, limits: Limits) -> None:
        self.source_id: Final = source_id
        self.limits: Final = limits
        self.waiting: int = 0
        self._running: set[Turn] = set()
        self._groups: dict[Hashable, GroupQueue] = {}
        self._waiting_groups: dict[GroupQueue, None] = {}
        self._number = 0
        self._clock = 0.0  # the highest `used` with which a turn has begun; an idle group continues from it
        self._sweep_at = _REMEMBERED
        self._learned: int | None = None
        self._believed_until = 0.0
        self._is_closed = False
        self._pauses = 0
        self._long_began = -LONG_EVERY

    @property
    def running(self) -> int:
        return len(self._running)

    def acquire(self, group: Hashable, weight: float = 1.0, *, is_stream: bool = False) -> Turn:
        """Return a turn. It has a connection already if the group may use a free one; otherwise it waits in the queue.
        Raises SourceUnavailable if the queue is full."""
        own = self._groups.get(group)
        if own is None:
            own = self._groups[group] = GroupQueue(weight)
        if not own.running and not own.waiting:
            own.used = max(own.used, self._clock)
        self._number += 1
        now = asyncio.get_running_loop().time()
        turn = Turn(self, own, self._number, is_stream=is_stream)
        is_idle = not (
            self._running or self.waiting or is_stream or self._pauses
        )  # the common case: there is no other turn, so no limit can apply
        if is_idle or (not self.waiting and self._may_start(turn, now, self._long_turns(now))):
            self._start(turn, now)
        else:
            self._check_capacity(own)
            self._queue(turn)
            self._serve()
        return turn

    def release(self, turn: Turn) -> None:
        turn.has_ended, turn.is_kept = True, False
        if turn in self._running:
            self._running.discard(turn)
            turn.group.charge(turn, asyncio.get_running_loop().time())
            if self.waiting:
                self._serve()
        elif not turn.came.done():
            self._unqueue(turn)
            turn.came.set_result(False)
        if len(self._groups) > self._sweep_at:
            self._sweep()

    def refuse(self, turn: Turn, idle: int) -> bool:
        """Put a turn back at the head of its queue after the server refused a connection. ``idle`` is the number of
        open connections that no query uses.

        Return False, and change nothing, if the source has no other connection and the turn has paused ``_PAUSES``
        times.
        """
        known = len(self._running) - 1 + idle
        if not known and turn.pauses == _PAUSES:
            return False
        if self._learned is None:
            _log.warning(
                "the server of data source %s allows fewer connections than pool_size: queries wait until one of the "
                "allowed connections is free",
                self.source_id,
            )
        loop = asyncio.get_running_loop()
        now = loop.time()
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

    def bar(self, group: GroupQueue) -> None:
        """Allow a group one stream fewer for ``BARRED_SECONDS``."""
        group.barred += 1
        asyncio.get_running_loop().call_later(BARRED_SECONDS, self._unbar, group)

    def must_yield(self, turn: Turn) -> bool:
        """Whether a stream has used the only connection for ``SLICE`` seconds while another group waits."""
        if not turn.is_stream or self.waiting == turn.group.waiting:
            return False
        now = asyncio.get_running_loop().time()
        return self._size(now) == 1 and now - turn.began >= SLICE

    def close(self) -> None:
        self._is_closed = True
        for group in [*self._waiting_groups]:
            for turn in [*group.queries, *group.streams]:
                self.release(turn)

    def lost_error(self, group: GroupQueue) -> SourceUnavailable:
        if self._is_closed:
            return closing_error(self.source_id)
        return queue_error(self.source_id, self.waiting, group.waiting)

    # --- the next turn ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while self.waiting and len(self._running) < self._size(now := asyncio.get_running_loop().time()):
            long_turns = self._long_turns(now)
            first = [
                queue[0]
                for group in self._waiting_groups
                for queue in (group.queries, group.streams)
                if queue and self._may_start(queue[0], now, long_turns)
            ]
            if not first:
                return
            turn = self._next(first, now)
            self._unqueue(turn)
            self._start(turn, now)

    def _next(self, turns: list[Turn], now: float) -> Turn:
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
        each = self.limits.sharing.group_pool_size or most
        if len(self._running) >= size or len(group.running) >= each:
            return False
        if turn.is_stream:
            streams = group.barred + sum(other.is_stream for other in group.running)
            own = (
                min(each, most) if self.limits.sharing.group_pool_size else share(most)
            )  # so that another group can run a stream
            return long_turns < most and streams < own
        if long_turns < max(each, most) or not group.is_long(now):
            return True
        # Streams may take up all long turns. Even then, one query of a long-running group may run.
        return all(turn.is_stream or not turn.group.is_long(now) for turn in self._running)

    def _go_on(self) -> None:
        self._pauses -= 1
        self._serve()

    def _long_turns(self, now: float) -> int:
        return sum(turn.is_stream or turn.group.is_long(now) for turn in self._running)

    def _size(self, now: float) -> int:
        if self._learned is not None and now < self._believed_until:
            return 0 if self._pauses else self._learned
        return self.limits.pool_size

    def _start(self, turn: Turn, now: float) -> None:
        self._clock = max(self._clock, turn.group.used_at(now))
        turn.began = now
        turn.group.running.add(turn)
        self._running.add(turn)
        turn.came.set_result(True)

    # --- waiting turns ------------------------------------------------------------------------------------------------

    def _check_capacity(self, own: GroupQueue) -> None:
        # If the queue is full, the newest turn of the group with the most waiting turns makes room for the new turn of
        # `own`. If that group has at most one turn more than `own`, the new turn is refused instead.
        if own.waiting >= self.limits.sharing.group_max_waiting:
            raise self.lost_error(own)
        if self.waiting < self.limits.sharing.max_waiting:
            return
        longest = max(self._waiting_groups, key=lambda group: group.waiting)
        if longest.waiting <= own.waiting + 1:
            raise self.lost_error(own)
        self.release(longest.newest())

    def _queue(self, turn: Turn, *, first: bool = False) -> None:
        queue = turn.group.queue_of(turn)
        if first:
            queue.appendleft(turn)
        else:
            queue.append(turn)
        self.waiting += 1
        self._waiting_groups[turn.group] = None

    def _unqueue(self, turn: Turn) -> None:
        turn.group.queue_of(turn).remove(turn)
        self.waiting -= 1
        if not turn.group.waiting:
            del self._waiting_groups[turn.group]

    def _unbar(self, group: GroupQueue) -> None:
        group.barred -= 1
        self._serve()

    # --- groups -------------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        self._groups = {key: group for key, group in self._groups.items() if not group.is_forgettable(now)}
        self._sweep_at = 2 * len(self._groups) + _REMEMBERED
