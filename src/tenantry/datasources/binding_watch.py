"""Ends queries and streams whose group or source changes.

Rows must not outlive the properties and mapping they were bound with. Each query is rechecked every fifth of the
staleness bound, and ends if the store is silent for the whole bound.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from tenantry.aio import silence_destroy_warning
from tenantry.clock import monotonic_with_suspend, utc_now
from tenantry.datasources.driver import Chunks
from tenantry.datasources.registrations import Registrations
from tenantry.errors import QueryOutdated, StoreUnavailable, TenantryError, UnmappedSchema, UnregisteredSource
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.ports import Clock, GroupStore, MonotonicClock

CHECKS: Final = 5
"""Checks in each staleness bound."""

_log: Final = logging.getLogger("tenantry.datasources")

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Binding:
    """A watched query. ``group``: None if only the registration is checked; ``current``: the last group read. ``end``
    is called once, with the ``error``."""

    group: UserGroup | None
    schema: str
    registered: RegisteredSource
    current: UserGroup
    certain_until: float
    due: float
    end: Callable[[TenantryError], object]
    error: TenantryError | None = None


class BindingWatch:
    """The bindings of one event loop. Without ``groups``, only registrations are checked."""

    def __init__(
        self,
        groups: GroupStore | None,
        registrations: Registrations,
        clock: MonotonicClock = monotonic_with_suspend,
        time_of_day: Clock = utc_now,
    ) -> None:
        self._groups = groups
        self._registrations = registrations
        self._clock = clock
        self._time_of_day = time_of_day
        self._bindings: dict[Binding, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._round: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._bindings)

    def add(
        self,
        group: UserGroup,
        schema: str,
        registered: RegisteredSource,
        end: Callable[[TenantryError], object],
        *,
        checks_group: bool = True,
    ) -> Binding:
        now, bound = self._clock(), self._registrations.staleness
        interval = bound / CHECKS
        own = group if checks_group and self._groups is not None else None
        binding = Binding(own, schema, registered, group, now + self._certain_for(own, bound), now + interval, end)
        self._bindings[binding] = None
        loop = asyncio.get_running_loop()
        if self._timer is None or self._loop is not loop:
            self._loop, self._round = loop, None
            self._timer = loop.call_later(interval, self._tick)
        return binding

    def discard(self, binding: Binding) -> None:
        self._bindings.pop(binding, None)

    async def run(self, group: UserGroup, schema: str, registered: RegisteredSource, work: Coroutine[Any, Any, T]) -> T:
        """Await ``work``. Raises QueryOutdated after a change, StoreUnavailable if the store does not answer."""
        limit = asyncio.timeout(None)
        binding = self.add(group, schema, registered, lambda _: limit.reschedule(0.0))
        try:
            return await _before(limit, binding, work)
        finally:
            self.discard(binding)

    async def open(
        self, group: UserGroup, schema: str, registered: RegisteredSource, opening: Awaitable[Chunks]
    ) -> Chunks:
        """Watch the chunks of ``opening`` to the last. Raises like ``run``."""
        limit = asyncio.timeout(None)
        binding = self.add(group, schema, registered, lambda _: limit.reschedule(0.0))
        try:
            return WatchedChunks(await _before(limit, binding, opening), binding, self)
        except BaseException:
            self.discard(binding)
            raise

    def stop(self) -> None:
        self._bindings.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._round is not None:
            self._round.cancel()
            self._round = None

    # --- checks -------------------------------------------------------------------------------------------------------

    def _certain_for(self, group: UserGroup | None, bound: float) -> float:
        """Allows time for another read: the end date may have moved."""
        if group is None or group.expires_at is None:
            return bound
        return min(bound, self._seconds_left(group) + 2 * bound / CHECKS)

    def _seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(self._time_of_day())

    def _tick(self) -> None:
        self._timer = None
        now, loop = self._clock(), asyncio.get_running_loop()
        for binding in [each for each in self._bindings if now >= each.certain_until]:
            has_ended = binding.group is not None and self._seconds_left(binding.current) <= 0
            unknown = StoreUnavailable("the store did not confirm in time that this query may continue; try again")
            self._end(binding, QueryOutdated(QueryOutdated.MESSAGE) if has_ended else unknown)
        due = [each for each in self._bindings if now >= each.due]
        if due and (self._round is None or self._round.done()):
            self._round = loop.create_task(self._check(due), name="tenantry.bindings")
            silence_destroy_warning(self._round)
        if self._bindings:
            self._timer = loop.call_later(self._registrations.staleness / CHECKS, self._tick)

    async def _check(self, due: list[Binding]) -> None:
        started, bound = self._clock(), self._registrations.staleness
        groups: dict[bytes, UserGroup | None] = {}
        sources: dict[tuple[int, str], RegisteredSource | None] = {}
        for binding in due:
            if binding not in self._bindings:
                continue
            try:
                async with asyncio.timeout(bound):  # a read that hangs must not stop the rounds
                    current = await self._current(binding, groups, sources)
            except (StoreUnavailable, TimeoutError):
                return  # the next round asks again
            except Exception as error:  # noqa: BLE001  # the directory breaks its contract; its text may hold a secret
                _log.error("a running query could not be checked: %s", type(error).__qualname__)
                continue
            if current is None:
                self._end(binding, QueryOutdated(QueryOutdated.MESSAGE))
            elif binding in self._bindings:
                binding.current = current
                binding.certain_until = started + self._certain_for(None if binding.group is None else current, bound)

    async def _current(
        self,
        binding: Binding,
        groups: dict[bytes, UserGroup | None],
        sources: dict[tuple[int, str], RegisteredSource | None],
    ) -> UserGroup | None:
        """Return the current group; None if the binding is outdated."""
        current, now = binding.current, self._time_of_day()
        if binding.group is not None and self._groups is not None:
            if current.handle not in groups:
                issued = await self._groups.get(handle=current.handle)
                groups[current.handle] = None if issued is None else issued.group
            found = groups[current.handle]
            if found is None or not _is_current(binding.group, found, now):
                return None
            current = found
        try:
            registered = await self._registrations.of_schema(current, binding.schema, reread=sources)
        except (UnmappedSchema, UnregisteredSource):
            return None
        return current if _identity(registered) == _identity(binding.registered) else None

    def _end(self, binding: Binding, error: TenantryError) -> None:
        if binding in self._bindings:
            self.discard(binding)
            binding.error = error
            binding.end(error)


class WatchedChunks:
    """Chunks watched until the reader has the last one."""

    def __init__(self, chunks: Chunks, binding: Binding, watch: BindingWatch) -> None:
        self._chunks = chunks
        self._binding = binding
        self._watch = watch
        binding.end = chunks.close
        if binding.error is not None:
            chunks.close(binding.error)

    @property
    def row_count(self) -> int:
        return self._chunks.row_count

    async def next(self) -> bytes | None:
        chunk = await self._chunks.next()
        if chunk is None:
            self._watch.discard(self._binding)
        return chunk

    def close(self, error: TenantryError | None = None) -> None:
        self._watch.discard(self._binding)
        self._chunks.close(error)


async def _before(limit: asyncio.Timeout, binding: Binding, work: Awaitable[T]) -> T:
    try:
        async with limit:
            return await work
    except TimeoutError:
        if binding.error is None:
            raise
    raise binding.error


def _identity(source: RegisteredSource) -> tuple[object, ...]:
    """Excludes the environment's settings, which may change; ``of_schema`` compares its id."""
    return source.id, source.url, source.trusted, source.session


def _is_current(bound: UserGroup, found: UserGroup, now: datetime) -> bool:
    behind = found.token_version - bound.token_version
    in_grace = behind == 1 and found.grace_until is not None and found.grace_until > now
    return (behind == 0 or in_grace) and found.seconds_left(now) > 0 and found.is_bound_like(bound)
