# The group and source of each query are read again five times per staleness bound (`SourceLookup.staleness`), so that
# no query continues with old properties or an old mapping. The query also ends if the store does not answer for that
# long.

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tenantry.aio import silence_destroy_warning
from tenantry.clock import monotonic_with_suspend, utc_now
from tenantry.datasources.driver import Chunks
from tenantry.datasources.source_lookup import SourceLookup
from tenantry.errors import (
    InvalidToken,
    PassExpired,
    QueryOutdated,
    StoreUnavailable,
    TenantryError,
    UnmappedSchema,
    UnregisteredSource,
)
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.ports import Clock, GroupStore, MonotonicClock

CHECKS: Final = 5
"""How many times a running query is checked within the staleness bound."""

_log: Final = logging.getLogger("tenantry.datasources")

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class WatchedQuery:
    group: UserGroup | None
    """The group to check. None: only the source is checked."""
    schema: str
    registered: RegisteredSource
    current: UserGroup
    certain_until: float
    """If no check succeeds before this time, the query is stopped. Each successful check postpones this time."""
    due: float
    """The query is checked at the first tick of the timer after this time, and at each later tick."""
    end: Callable[[TenantryError], object]
    """Called once, to end the query because of ``error``."""
    error: TenantryError | None = None
    at_end_of_pass: asyncio.TimerHandle | None = None


class QueryWatch:
    """Ends running queries and streams of one event loop if their group or data source changes. If ``groups`` is None,
    only sources are checked."""

    def __init__(
        self,
        groups: GroupStore | None,
        lookup: SourceLookup,
        clock: MonotonicClock = monotonic_with_suspend,
        time_of_day: Clock = utc_now,
    ) -> None:
        self.checks_groups: bool = groups is not None
        self._groups = groups
        self._lookup = lookup
        self._clock = clock
        self._time_of_day = time_of_day
        self._watched: dict[WatchedQuery, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._round: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._watched)

    def add(
        self,
        group: UserGroup,
        schema: str,
        registered: RegisteredSource,
        end: Callable[[TenantryError], object],
        *,
        checks_group: bool = True,
    ) -> WatchedQuery:
        now, bound = self._clock(), self._lookup.staleness
        interval = bound / CHECKS
        own = group if checks_group and self.checks_groups else None
        query = WatchedQuery(own, schema, registered, group, now + self._certain_for(own, bound), now + interval, end)
        self._watched[query] = None
        loop = asyncio.get_running_loop()
        if self._timer is None or self._loop is not loop:
            self._loop, self._round = loop, None
            self._timer = loop.call_later(interval, self._tick)
        if own is not None and own.viewer is not None and own.ends_with_pass:
            left = max(0.0, self._seconds_left(own))
            query.at_end_of_pass = loop.call_later(left, self._end, query, PassExpired(PassExpired.MESSAGE))
        return query

    def discard(self, query: WatchedQuery) -> None:
        self._watched.pop(query, None)
        if query.at_end_of_pass is not None:
            query.at_end_of_pass.cancel()

    async def run(self, group: UserGroup, schema: str, registered: RegisteredSource, work: Coroutine[Any, Any, T]) -> T:
        """Await ``work`` and return its result. Raises QueryOutdated if the group or source changes, a subclass of
        InvalidToken if the group or its viewer loses access, and StoreUnavailable if the store does not answer."""
        limit = asyncio.timeout(None)
        query = self.add(group, schema, registered, lambda _: limit.reschedule(0.0))
        try:
            return await _watched_result(limit, query, work)
        finally:
            self.discard(query)

    async def open(
        self, group: UserGroup, schema: str, registered: RegisteredSource, opening: Awaitable[Chunks]
    ) -> Chunks:
        """Like ``run``, for a stream, which is watched until its last chunk."""
        limit = asyncio.timeout(None)
        query = self.add(group, schema, registered, lambda _: limit.reschedule(0.0))
        try:
            return WatchedChunks(await _watched_result(limit, query, opening), query, self)
        except BaseException:
            self.discard(query)
            raise

    def stop(self) -> None:
        for query in list(self._watched):
            self.discard(query)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._round is not None:
            self._round.cancel()
            self._round = None

    # --- checks -------------------------------------------------------------------------------------------------------

    def _certain_for(self, group: UserGroup | None, bound: float) -> float:
        if group is None or group.expires_at is None:
            return bound
        # A check may find that the end date was moved. So after the end date a query may go on for two check intervals.
        return min(bound, self._seconds_left(group) + 2 * bound / CHECKS)

    def _seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(self._time_of_day())

    def _tick(self) -> None:
        self._timer = None
        now, loop = self._clock(), asyncio.get_running_loop()
        for query in [query for query in self._watched if now >= query.certain_until]:
            try:
                if query.group is not None:
                    query.current.require_access(self._time_of_day())
            except InvalidToken as error:
                self._end(query, error)
            else:
                unknown = "the store did not confirm in time that this query may continue; try again"
                self._end(query, StoreUnavailable(unknown))
        due = [query for query in self._watched if now >= query.due]
        if due and (self._round is None or self._round.done()):
            self._round = loop.create_task(self._check(due), name="tenantry.query_watch")
            silence_destroy_warning(self._round)
        if self._watched:
            self._timer = loop.call_later(self._lookup.staleness / CHECKS, self._tick)

    async def _check(self, due: list[WatchedQuery]) -> None:
        started, bound = self._clock(), self._lookup.staleness
        groups: dict[bytes, UserGroup | None] = {}
        sources: dict[tuple[int, str], RegisteredSource | None] = {}
        for query in due:
            if query not in self._watched:
                continue
            try:
                async with asyncio.timeout(bound):  # a read that hangs must not prevent the next round
                    current = await self._current(query, groups, sources)
            except (StoreUnavailable, TimeoutError):
                return  # the next round asks again
            except (QueryOutdated, InvalidToken) as error:
                self._end(query, error)
                continue
            except Exception as error:  # noqa: BLE001  # the directory broke its contract; the error may quote a secret
                _log.error("a running query could not be checked: %s", type(error).__qualname__)
                continue
            if query in self._watched:
                query.current = current
                query.certain_until = started + self._certain_for(None if query.group is None else current, bound)

    async def _current(
        self,
        query: WatchedQuery,
        groups: dict[bytes, UserGroup | None],
        sources: dict[tuple[int, str], RegisteredSource | None],
    ) -> UserGroup:
        current, now = query.current, self._time_of_day()
        if query.group is not None and self._groups is not None:
            if current.handle not in groups:
                issued = await self._groups.get(handle=current.handle)
                groups[current.handle] = None if issued is None else issued.group
            found = groups[current.handle]
            if found is None:
                raise QueryOutdated(QueryOutdated.MESSAGE)
            current = found if query.group.viewer is None else found.with_viewer(query.group.viewer)
            current.require_access(now)
            if not current.accepts(query.group.token_version, now) or not current.is_bound_like(query.group):
                raise QueryOutdated(QueryOutdated.MESSAGE)
        try:
            registered = await self._lookup.of_schema(current, query.schema, reread=sources)
        except (UnmappedSchema, UnregisteredSource) as error:
            raise QueryOutdated(QueryOutdated.MESSAGE) from error
        if _identity(registered) != _identity(query.registered):
            raise QueryOutdated(QueryOutdated.MESSAGE)
        return current

    def _end(self, query: WatchedQuery, error: TenantryError) -> None:
        if query in self._watched:
            self.discard(query)
            query.error = error.with_traceback(None)
            query.end(error)


class WatchedChunks:
    def __init__(self, chunks: Chunks, query: WatchedQuery, watch: QueryWatch) -> None:
        self._chunks = chunks
        self._query = query
        self._watch = watch
        query.end = chunks.close
        if query.error is not None:
            chunks.close(query.error)

    @property
    def row_count(self) -> int:
        return self._chunks.row_count

    async def next(self) -> bytes | None:
        chunk = await self._chunks.next()
        if chunk is None:
            self._watch.discard(self._query)
        return chunk

    def close(self, error: TenantryError | None = None) -> None:
        self._watch.discard(self._query)
        self._chunks.close(error)


async def _watched_result(limit: asyncio.Timeout, query: WatchedQuery, work: Awaitable[T]) -> T:
    try:
        async with limit:
            return await work
    except TimeoutError:
        if query.error is None:
            raise
    raise query.error


def _identity(source: RegisteredSource) -> tuple[object, ...]:
    # The fields whose change ends a query. `of_schema` has already compared the environment.
    return source.id, source.url, source.trusted, source.session, source.tables
