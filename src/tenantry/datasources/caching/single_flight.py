"""Single flight: equal queries that are under way at once are one execution, whose answer all who wait for it get.

A flight belongs to nobody who waits: when one leaves, also the first, the query goes on for the others; when the last
has left, it is stopped. Until it begins, it has a place in the queue of each group that waits for it, so that no group
waits for another one's turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from tenantry.datasources.activity import OK, STOPPED, Activity, Execution, outcome_of
from tenantry.datasources.caching.shared_answer import SharedAnswer
from tenantry.datasources.driver import Answer, Rows, busy_error, query_error
from tenantry.datasources.pool.streamed_reduction import Reduction, fetch_reduced
from tenantry.datasources.pool.turns import Turn
from tenantry.datasources.pools import OpenSource, Pools
from tenantry.datasources.query_label import QueryLabel
from tenantry.datasources.results import Result
from tenantry.errors import SourceUnavailable
from tenantry.sql import BoundSQL

Clock = Callable[[], float]


@dataclass(slots=True)
class BoundQuery:
    """One bound query of a group. Those with equal keys have equal answers; without a key it is nobody else's.

    ``weight``: of the group, when it takes turns; None: 1. ``max_age``: what was asked for, which says how long the
    answer is worth keeping. ``reduction``: what is made of its rows, which may then be more than those of a query.
    ``while_current`` is put around the wait for an answer: it ends when the group or its source has changed.
    """

    opened: OpenSource
    bound: BoundSQL
    session: BoundSQL | None
    group: bytes
    label: QueryLabel
    weight: Callable[[], float] | None
    key: str | None
    wants_dicts: bool = False
    max_age: float | None = None
    reduction: Reduction | None = None
    while_current: Callable[[Coroutine[Any, Any, Landing]], Coroutine[Any, Any, Landing]] | None = None


@dataclass(slots=True)
class Landing:
    """What came of a query: the answer as it was at ``as_of`` (seconds since 1970), when the query began.

    ``dicts``: its rows as dicts, where somebody wanted them. ``is_shared``: others have it too, so it is to be copied.
    ``queue_seconds``: how long the query waited for a turn. ``is_hit``: it comes from a cache.
    """

    answer: SharedAnswer
    dicts: Rows | None
    as_of: float
    is_shared: bool = False
    queue_seconds: float = 0.0
    is_hit: bool = False

    def take_result(self) -> Result:
        """For one viewer. Raises Uncopyable."""
        return self.answer.result() if self.is_shared else self.answer.original

    def take_dicts(self) -> Rows:
        """For one viewer. Raises Uncopyable."""
        ready, self.dicts = self.dicts, None
        if ready is not None and not (self.is_shared and self.answer.mutable):
            return ready
        return self.answer.result().dicts()


@dataclass(slots=True)
class FlightCounters:
    """What became of queries since the start. Plain integers: reading them costs nothing."""

    executed: int = 0
    """Begun at their sources."""
    joined: int = 0
    """Given the answer of a query that was under way already."""
    stopped: int = 0
    """Stopped or never begun, for nobody waited any more."""


class Flights:
    """The queries of one event loop that are under way. ``clock``: seconds since 1970. ``landed`` is called with each
    answer before anybody gets it, and says whether it is kept."""

    def __init__(
        self,
        pools: Pools,
        activity: Activity,
        clock: Clock,
        landed: Callable[[BoundQuery, Landing], bool] | None,
    ) -> None:
        self.counters: FlightCounters = FlightCounters()
        self.activity: Final = activity
        self.clock: Final = clock
        self.pools: Final = pools
        self.landed: Final = landed
        self.by_key: Final[dict[str, Flight]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def ask(self, query: BoundQuery, max_age: float | None = None) -> Coroutine[Any, Any, Landing]:
        """The answer to a query, or to an equal one that is under way; with ``max_age`` (seconds), to one that has not
        begun or began no longer ago. To be awaited at once. Raises DataSourceError, each time another object."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # flights of a loop that has ended never land
            self.by_key.clear()
            self._loop = loop
        key = query.key
        flight = None if key is None else self.by_key.get(key)
        if flight is None or not flight.is_younger_than(max_age):
            flight = Flight(self, query, loop)
            flight.queue(query)
            if key is not None:
                self.by_key[key] = flight
        else:
            self.counters.joined += 1
            self.activity.sources[query.label.source].joined += 1
            if flight.began is None and query.group not in flight.turns:
                with suppress(SourceUnavailable):  # its queue is full; there is a place in another one already
                    flight.queue(query)
        return flight.wait() if query.while_current is None else query.while_current(flight.wait())

    def forget_source(self, name: str | None) -> None:
        """No query joins one that is under way at this source; None: at any."""
        for key in [key for key, flight in self.by_key.items() if name in (None, flight.query.opened.name)]:
            del self.by_key[key]


class Flight:
    """One query and those who wait for it. ``began``: when it was sent to its source; None while it waits for a turn.
    ``turns``: its places in the queues of groups. ``query`` is the first one's."""

    def __init__(self, flights: Flights, query: BoundQuery, loop: asyncio.AbstractEventLoop) -> None:
        self.query: Final = query
        self.began: float | None = None
        self.turns: Final[dict[bytes, Turn]] = {}
        self._flights = flights
        self._execution = Execution(flights.activity, query.label)
        self._loop = loop
        self._waiters: set[asyncio.Future[Landing | Exception]] = set()
        self._task: asyncio.Task[Shared] | None = None
        self._has_ended = False

    def is_younger_than(self, max_age: float | None) -> bool:
        """Whether its answer is good for one who wants none that is older than so many seconds."""
        return max_age is None or self.began is None or self._flights.clock() - self.began <= max_age

    def queue(self, query: BoundQuery) -> None:
        """Takes a turn of the query's group, or a place in its queue. Raises SourceUnavailable if that is full."""
        turn = query.opened.turns.ask(query.group, 1.0 if query.weight is None else query.weight())
        if turn.came.done():
            if self.turns:
                self._withdraw()  # from the queues of groups that are at their limit
            self._begin(turn)
        else:
            self.turns[query.group] = turn
            self._execution.wait()
            turn.came.add_done_callback(lambda _: self._turn_came(query.group, turn))

    async def wait(self) -> Landing:
        """For one of those who wait. Raises DataSourceError."""
        if not self._waiters:
            self.query.opened.users += 1  # the source stays open until the flight has ended
        waiter: asyncio.Future[Landing | Exception] = self._loop.create_future()
        self._waiters.add(waiter)
        timer = None
        if self.began is None:
            timer = self._loop.call_later(self._flights.pools.limits.wait, self._give_up, waiter)
        try:
            outcome = await waiter
        finally:
            if timer is not None:
                timer.cancel()
            self._waiters.discard(waiter)
            if not self._waiters and not self._has_ended:
                self._stop()
        if isinstance(outcome, Landing):
            return outcome
        raise copy(outcome)  # a traceback of its own, and no cause

    def _give_up(self, waiter: asyncio.Future[Landing | Exception]) -> None:
        if self.began is None and not waiter.done():
            waiter.set_result(busy_error(self.query.opened.registered.id))

    def _stop(self) -> None:
        """Nobody waits any more."""
        self._flights.counters.stopped += 1
        self._forget()
        self._withdraw()
        if self._task is None:
            self._execution.end(STOPPED)
            self._end()
        else:
            self._task.cancel()

    def _forget(self) -> None:
        key, flights = self.query.key, self._flights.by_key
        if key is not None and flights.get(key) is self:
            del flights[key]

    def _end(self) -> None:
        self._has_ended = True
        self._flights.pools.release(self.query.opened)

    # --- turns --------------------------------------------------------------------------------------------------------

    def _turn_came(self, group: bytes, turn: Turn) -> None:
        if self.turns.get(group) is not turn:
            return  # it was withdrawn
        del self.turns[group]
        if not turn.has_ended:
            self._withdraw()
            self._begin(turn)
        elif not self.turns:  # another group has its place
            self._forget()
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(self.query.opened.turns.lost_error(turn.group))

    def _withdraw(self) -> None:
        turns = [*self.turns.values()]
        self.turns.clear()
        for turn in turns:
            turn.end()

    # --- the execution ------------------------------------------------------------------------------------------------

    def _begin(self, turn: Turn) -> None:
        query, flights = self.query, self._flights
        self.began = flights.clock()
        flights.counters.executed += 1
        self._execution.begin()
        bound = query.opened.to_send(query.bound, query.label)
        as_of, is_measured = datetime.fromtimestamp(self.began, UTC), flights.landed is not None
        shape = partial(_share, as_of=as_of, wants_dicts=query.wants_dicts, is_measured=is_measured)
        source, reduction = query.opened.source, query.reduction
        fetch = source.fetch if reduction is None else partial(fetch_reduced, source, reduction, flights.pools.limits)
        self._task = self._loop.create_task(fetch(shape, bound, turn, query.session))
        self._task.add_done_callback(partial(self._landed, turn))  # also of one that never ran

    def _landed(self, turn: Turn, task: asyncio.Task[Shared]) -> None:
        turn.leave()
        self._forget()
        if not self._has_ended:
            self._end()
        outcome: Landing | Exception
        execution = self._execution
        if task.cancelled() or (error := task.exception()) is not None:
            outcome = self._failure(None if task.cancelled() else error)
            execution.end(STOPPED if task.cancelled() else outcome_of(outcome))
        else:
            answer, dicts = task.result()
            execution.end(OK, len(answer.original.rows), answer.original.size or 0)
            outcome = Landing(answer, dicts, self.began or 0.0, len(self._waiters) > 1, execution.waited)
            keep = self._flights.landed
            if keep is not None and keep(self.query, outcome):
                outcome.is_shared = True
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(outcome)

    def _failure(self, error: BaseException | None) -> Exception:
        if isinstance(error, Exception):
            return error
        source_id = self.query.opened.registered.id
        if error is not None:
            return query_error(source_id, type(error).__name__)
        return SourceUnavailable(f"the query on data source {source_id} was stopped; try again", retry_after=1)


Shared = tuple[SharedAnswer, Rows | None]


def _share(answer: Answer, *, as_of: datetime, wants_dicts: bool, is_measured: bool) -> Shared:
    """What a flight makes of an answer, in the thread of the query: with its rows as dicts for the first who wants
    them, and measured if it may be kept."""
    shared = SharedAnswer(answer, as_of)
    dicts = shared.original.dicts() if wants_dicts else None
    if is_measured:
        shared.measure()
    return shared, dicts
