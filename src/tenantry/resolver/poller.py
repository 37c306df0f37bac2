"""Polls the store for changes. A poll that began at time *t* lists all writes before *t*. So it extends the lease, the
permission to use cached answers, to *t* plus the staleness bound. A gap in the list clears the cache."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import weakref
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from tenantry.aio import silence_destroy_warning
from tenantry.errors import StoreUnavailable, TenantryError, error_location
from tenantry.resolver.bus_subscriptions import BusSubscriptions
from tenantry.resolver.loading import BackendErrors, BackendFailed

if TYPE_CHECKING:
    from tenantry.cache import GroupCache
    from tenantry.ports import LeasedBackend, MonotonicClock, Slots
    from tenantry.resolver.followed_keys import FollowedKeys
    from tenantry.resolver.loading import Counters

logger: logging.Logger = logging.getLogger(__name__)

IDLE = 30.0
"""Polling stops when no request has come for this many seconds."""

FIRST_POLL_WAIT = 0.1
"""Maximum seconds that a load waits for the first poll. Without the lease from this poll, the answer of the load could
not be cached."""


class Poller:
    """Polls about five times per staleness bound (``staleness``, in seconds), on one event loop at a time."""

    def __init__(
        self,
        backend: LeasedBackend,
        cache: GroupCache,
        counters: Counters,
        subscriptions: BusSubscriptions,
        keys: FollowedKeys,
        *,
        staleness: float,
        patience: float,
        clock: MonotonicClock,
    ) -> None:
        self._backend = backend
        self._cache = cache
        self._counters = counters
        self._subscriptions = subscriptions
        self._keys = keys
        self._staleness = staleness
        self._patience = min(patience, staleness)
        self._interval = staleness / 5
        self._clock = clock
        self._lock = Lock()
        self._loop_ref: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._task: asyncio.Task[None] | None = None
        self._epoch = 0
        self._due = 0.0
        self._begun_at = 0.0
        self._slots: Slots | None = None
        self._down = False
        self._used = -1
        self._last_used_at = 0.0

    def ensure_running(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to poll on ``loop``, unless polling is active on this or another loop. Call this at each cache miss."""
        now = self._last_used_at = self._clock()
        with self._lock:
            polling = None if self._loop_ref is None else self._loop_ref()
            if now < self._due and polling is not None and polling.is_running():
                return
            _cancel(self._task)
            self._epoch += 1
            self._loop_ref = weakref.ref(loop)
            self._begin(loop, self._epoch, now)

    async def wait_first_poll(self) -> None:
        task, now = self._task, self._clock()
        if task is None or task.done() or now < self._cache.lease.until or now >= self._begun_at + FIRST_POLL_WAIT:
            return
        if task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({task}, timeout=FIRST_POLL_WAIT)

    def stop(self) -> list[asyncio.Task[None]]:
        with self._lock:
            self._epoch += 1
            self._due = 0.0
            task, self._task = self._task, None
        # From now on no poll extends the lease, so end it at once. Otherwise a stream that opens just before the lease
        # ends would be closed, as in an outage.
        self._cache.end_lease()
        _cancel(task)
        return [*self._subscriptions.stop(), *([] if task is None else [task])]

    # --- timers -------------------------------------------------------------------------------------------------------

    def _begin(self, loop: asyncio.AbstractEventLoop, epoch: int, now: float) -> None:
        self._begun_at = now
        self._due = now + self._patience + self._interval  # if no poll has ended by then, another loop takes over
        self._subscriptions.start(loop)
        self._task = loop.create_task(self._run(loop, epoch), name="tenantry.poll")
        silence_destroy_warning(self._task)

    async def _run(self, loop: asyncio.AbstractEventLoop, epoch: int) -> None:
        try:
            await self.poll()
        finally:
            delay = self._interval * random.uniform(0.8, 1.0)  # noqa: S311  # so that processes do not poll at the same time
            with self._lock:
                if epoch == self._epoch and not loop.is_closed():
                    self._task = None
                    self._due = self._clock() + delay + self._interval
                    loop.call_later(delay, _tick, weakref.ref(self), epoch)

    def tick(self, epoch: int) -> None:
        """Poll again, or stop if the resolver is idle. Do nothing after ``stop``, or if polling has moved to another
        loop."""
        now = self._clock()
        used = self._counters.hits + self._counters.misses
        if used != self._used:
            self._used, self._last_used_at = used, now
        idle = now - self._last_used_at >= IDLE
        with self._lock:
            if epoch != self._epoch:
                return
            if not idle:
                self._begin(asyncio.get_running_loop(), epoch, now)
        if idle:
            self.stop()

    # --- one poll -----------------------------------------------------------------------------------------------------

    async def poll(self) -> None:
        """Poll once. Log the beginning and the end of an outage."""
        self._keys.refresh()
        try:
            with BackendErrors():
                async with asyncio.timeout(self._patience):
                    await self._poll_once()
        except (BackendFailed, TenantryError, TimeoutError) as error:
            self._counters.failed_polls += 1
            if not self._down:
                self._down = True
                match error:
                    case BackendFailed():
                        reason = error.location
                    case TenantryError():
                        reason = f"{error.code}: {error.message}"
                    case _:
                        reason = error_location(error)
                logger.warning("the store does not list its changes, so caching ends with the lease: %s", reason)
        else:
            self._counters.polls += 1
            if self._down:
                self._down = False
                logger.warning("the store lists its changes again: groups are cached")
        self._counters.flushed = self._cache.flushes

    async def _poll_once(self) -> None:
        slots = self._backend.slots
        snapshot = self._cache.begin_poll(
            self._clock(), None if slots is None or slots is not self._slots else slots.copy()
        )
        await asyncio.sleep(0)  # let other tasks run: without pauses, a poll would block the loop too long
        changes = await self._backend.changes(self._cache.change_log.known, lease=self._staleness)
        await asyncio.sleep(0)
        slots = self._backend.slots
        if slots is None:
            raise StoreUnavailable(
                "the store's `slots` is None after a call to `changes`: `slots` must return an object by "
                "which the host's processes see writes"
            )
        if slots is not self._slots:
            self._cache.attach(slots.versions)
            self._slots = slots
            snapshot = replace(snapshot, versions_at_poll=None)  # the versions were copied from the previous slots
        for ages in self._cache.apply_changes(snapshot, changes, self._staleness):
            if ages:
                self._counters.evicted += len(ages)
                self._counters.last_staleness = ages[-1]
                self._counters.max_staleness = max(self._counters.max_staleness, *ages)
            await asyncio.sleep(0)
        if self._slots is not None:
            for slot, version in self._cache.abandoned_writes(self._clock(), self._staleness):
                logger.warning("a writer crashed: its slot %d was repaired", slot)
                self._slots.repair(slot, version)


def _tick(poller: weakref.ref[Poller], epoch: int) -> None:
    target = poller()
    if target is not None:
        target.tick(epoch)


def _cancel(task: asyncio.Task[None] | None) -> None:
    if task is not None and not task.done():
        with contextlib.suppress(RuntimeError):  # its loop may be closing, in another thread
            task.get_loop().call_soon_threadsafe(task.cancel)
