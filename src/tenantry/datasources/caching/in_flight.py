from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from tenantry.clock import steady_time
from tenantry.datasources.activity import OK, STOPPED, Activity, Execution, outcome_of
from tenantry.datasources.bound_query import BoundQuery
from tenantry.datasources.caching.shared_answer import SharedAnswer
from tenantry.datasources.driver import Answer, Rows, busy_error, query_error
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.pool.streamed_reduction import fetch_reduced
from tenantry.datasources.query_label import with_tag
from tenantry.datasources.query_watch import QueryWatch
from tenantry.datasources.results import Result
from tenantry.errors import SourceUnavailable

Clock = Callable[[], float]


@dataclass(slots=True)
class QueryOutcome:
    answer: SharedAnswer
    dicts: Rows | None
    """The rows as dicts, if the query's thread made dicts."""
    as_of: float
    """When the source was queried, in Unix seconds."""
    is_shared: bool = False
    """Whether other callers get this result too. Then each caller gets copies of mutable values."""
    queue_seconds: float = 0.0
    is_hit: bool = False

    def take_result(self) -> Result:
        """Return the result, or a copy if it is shared. Raises Uncopyable."""
        return self.answer.result() if self.is_shared else self.answer.original

    def take_dicts(self) -> Rows:
        ready, self.dicts = self.dicts, None
        if ready is not None and not (self.is_shared and self.answer.mutable):
            return ready
        return self.answer.result().dicts()


class InFlightQueries:
    """Runs equal concurrent queries of one event loop only once.

    ``store_outcome`` stores a result in a cache, and returns whether later callers may find it there.
    """

    # An execution (one run at a source) waits in the queue of each caller's group. It begins when one of these groups
    # gets a connection, and stops when the last caller leaves.

    def __init__(
        self,
        limits: Limits,
        activity: Activity,
        clock: Clock,
        watch: QueryWatch,
        store_outcome: Callable[[BoundQuery, QueryOutcome], bool] | None,
    ) -> None:
        self.activity: Final = activity
        self.clock: Final = clock
        self.limits: Final = limits
        self.store_outcome: Final = store_outcome
        self.by_key: Final[dict[str, InFlightQuery]] = {}
        self._watch = watch
        self._loop: asyncio.AbstractEventLoop | None = None

    def join(self, query: BoundQuery, max_age: float | None = None) -> Coroutine[Any, Any, QueryOutcome]:
        """If an equal query is in flight and began at most ``max_age`` seconds ago (None: at any time), wait for its
        result. Otherwise run the query. The caller must await the coroutine immediately. Raises DataSourceError and the
        errors of ``QueryWatch.run``."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # queries of a closed loop never end, so forget them
            self.by_key.clear()
            self._loop = loop
        key = query.key
        running = None if key is None else self.by_key.get(key)
        if running is None or not running.is_younger_than(max_age):
            running = InFlightQuery(self, query, loop)
            running.enqueue(query)
            if key is not None:
                self.by_key[key] = running
        else:
            self.activity.sources[query.label.source].joined += 1
            if running.began is None and query.group.handle not in running.turns:
                with suppress(
                    SourceUnavailable
                ):  # this group's queue is full, but the query may wait in another group's queue
                    running.enqueue(query)
        return self._watch.run(query.group, query.schema, query.opened.registered, running.wait())

    def invalidate_source(self, name: str | None) -> None:
        """Let no further caller join the queries that are in flight at this source (None: at any source)."""
        for key in [key for key, running in self.by_key.items() if name in (None, running.query.opened.name)]:
            del self.by_key[key]


class InFlightQuery:
    def __init__(self, in_flight: InFlightQueries, query: BoundQuery, loop: asyncio.AbstractEventLoop) -> None:
        self.query: Final = query
        self.began: float | None = None
        self.turns: Final[dict[bytes, Turn]] = {}
        self._in_flight = in_flight
        self._execution = Execution(in_flight.activity, query.label)
        self._loop = loop
        self._waiters: set[asyncio.Future[QueryOutcome | Exception]] = set()
        self._task: asyncio.Task[_Shared] | None = None
        self._has_ended = False

    def is_younger_than(self, max_age: float | None) -> bool:
        return max_age is None or self.began is None or self._in_flight.clock() - self.began <= max_age

    def enqueue(self, query: BoundQuery) -> None:
        """If the caller's group gets a connection at once, begin the query; otherwise queue it. Raises
        SourceUnavailable if the queue is full."""
        handle = query.group.handle
        turn = query.opened.queue.acquire(handle, 1.0 if query.weight is None else query.weight())
        if turn.came.done():
            if self.turns:
                self._withdraw()  # the turns in other groups' queues
            self._begin(turn)
        else:
            self.turns[handle] = turn
            self._execution.wait()
            turn.came.add_done_callback(lambda _: self._turn_came(handle, turn))

    async def wait(self) -> QueryOutcome:
        if not self._waiters:
            self.query.opened.users += 1  # the source stays open until the query has ended
        waiter: asyncio.Future[QueryOutcome | Exception] = self._loop.create_future()
        self._waiters.add(waiter)
        timer = None
        if self.began is None:
            timer = self._loop.call_later(self._in_flight.limits.wait, self._give_up, waiter)
        try:
            outcome = await waiter
        finally:
            if timer is not None:
                timer.cancel()
            self._waiters.discard(waiter)
            if not self._waiters and not self._has_ended:
                self._stop()
        if isinstance(outcome, QueryOutcome):
            return outcome
        raise copy(outcome)  # a copy, because each caller adds its traceback to the error

    def _give_up(self, waiter: asyncio.Future[QueryOutcome | Exception]) -> None:
        if self.began is None and not waiter.done():
            waiter.set_result(busy_error(self.query.opened.registered.id))

    def _stop(self) -> None:
        self._forget()
        self._withdraw()
        if self._task is None:
            self._execution.end(STOPPED)
            self._has_ended = True
            self.query.opened.release()
        else:
            self._task.cancel()

    def _forget(self) -> None:
        key, by_key = self.query.key, self._in_flight.by_key
        if key is not None and by_key.get(key) is self:
            del by_key[key]

    # --- turns --------------------------------------------------------------------------------------------------------

    def _turn_came(self, handle: bytes, turn: Turn) -> None:
        if self.turns.get(handle) is not turn:
            return  # the turn was withdrawn before it got a connection
        del self.turns[handle]
        if not turn.has_ended:
            self._withdraw()
            self._begin(turn)
        elif not self.turns:  # the last waiting turn lost its place to a turn of another group
            self._forget()
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(turn.queue.lost_error(turn.group))

    def _withdraw(self) -> None:
        turns = [*self.turns.values()]
        self.turns.clear()
        for turn in turns:
            turn.queue.release(turn)

    # --- the execution ------------------------------------------------------------------------------------------------

    def _begin(self, turn: Turn) -> None:
        query, in_flight = self.query, self._in_flight
        self.began = in_flight.clock()
        self._execution.begin()
        is_steady = in_flight.clock is steady_time  # viewers see the time of the host's clock
        as_of = datetime.now(UTC) if is_steady else datetime.fromtimestamp(self.began, UTC)
        is_measured = in_flight.store_outcome is not None
        shape = partial(_share, as_of=as_of, wants_dicts=query.wants_dicts, is_measured=is_measured)
        pool, reduction = query.opened.pool, query.reduction
        fetch = pool.fetch if reduction is None else partial(fetch_reduced, pool, reduction, in_flight.limits)
        sql = with_tag(query.sql, query.label) if query.opened.is_tagged else query.sql
        self._task = self._loop.create_task(fetch(shape, sql, turn, query.session))
        self._task.add_done_callback(
            partial(self._end, turn)
        )  # a callback runs even if the task is cancelled before its first step

    def _end(self, turn: Turn, task: asyncio.Task[_Shared]) -> None:
        turn.leave()
        self._forget()
        self._has_ended = True
        self.query.opened.release()
        outcome: QueryOutcome | Exception
        execution = self._execution
        if task.cancelled() or (error := task.exception()) is not None:
            outcome = self._failure(None if task.cancelled() else error)
            execution.end(STOPPED if task.cancelled() else outcome_of(outcome))
        else:
            answer, dicts = task.result()
            execution.end(OK, len(answer.original.rows), answer.original.size or 0)
            outcome = QueryOutcome(answer, dicts, self.began or 0.0, len(self._waiters) > 1, execution.waited)
            store_outcome = self._in_flight.store_outcome
            if store_outcome is not None and store_outcome(self.query, outcome):
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
        return SourceUnavailable(f"the query on data source {source_id} was stopped; try again")


_Shared = tuple[SharedAnswer, Rows | None]


def _share(answer: Answer, *, as_of: datetime, wants_dicts: bool, is_measured: bool) -> _Shared:
    shared = SharedAnswer(answer, as_of)
    dicts = shared.original.dicts() if wants_dicts else None
    if is_measured:
        shared.measure()
    return shared, dicts
