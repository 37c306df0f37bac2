from __future__ import annotations

import asyncio
import logging
import os
import random
import secrets
import time
import weakref
from datetime import UTC, datetime
from math import ceil, inf
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from tenantry.aio import LoopLocal, silence_destroy_warning
from tenantry.errors import InvalidSettings, TenantryError, error_location
from tenantry.groups import HourlyUsage, Usage, UsageBatch, UsageKey, UserGroup
from tenantry.usage.counters import UsageCounter
from tenantry.usage.waiting import WaitingUsage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenantry.ports import UsageStore

logger: logging.Logger = logging.getLogger(__name__)

MAX_ROWS: Final = 50_000
"""Maximum number of rows in memory, which take about 20 MB. A row is the usage of one group at one data source in one
hour, or of one viewer in one day. Further groups are summed as one."""
MANY_ROWS: Final = 10_000
"""When this many rows are in memory, they are written without waiting for the end of the interval."""
# Writing a batch of this size locks SQLite's file for about 5 ms.
BATCH_ROWS: Final = 500
"""Maximum number of rows in a batch."""
# Summing this many delays one request by about 100 µs.
MAX_HITS: Final = 256
"""Maximum number of cache entries whose hits are summed at once."""

_HOUR: Final = 3_600
_OVERDUE: Final = 10.0
"""A timer that is this many seconds overdue is replaced, because its event loop has probably ended."""


class CountedEntry(Protocol):
    hits: int
    group: UserGroup


class UsageRecorder:
    """Counts usage in memory, and adds the counts to ``store`` about every ``seconds`` seconds. A batch that is sent
    twice is counted once. Threads and event loops may share a recorder. ``observers`` receive the same counts, without
    viewers. Raises InvalidSettings if ``seconds`` is invalid."""

    def __init__(self, store: UsageStore, seconds: float = 60.0, *, clock: Callable[[], float] = time.time) -> None:
        if not 0 < seconds < inf:
            raise InvalidSettings("usage_seconds must be a number above 0; to record no usage, set it to None")
        self.observers: list[UsageCounter] = []
        self._store = store
        self._seconds = seconds
        self._clock = clock
        self._sending: LoopLocal[asyncio.Lock] = LoopLocal(asyncio.Lock)
        self._keepers: LoopLocal[_Keeper] = LoopLocal(_Keeper, _Keeper.aclose)
        self._down = self._is_full = False
        self._hits: list[CountedEntry] = []
        self._begin()
        _recorders.add(self)

    def _begin(self) -> None:
        for entry in self._hits:
            entry.hits = 0
        self._hits = []
        self._hour_of_hits = 0
        self._lock = Lock()
        # The loop that writes now; only one loop writes at a time.
        self._sender: asyncio.AbstractEventLoop | None = None
        self._table = WaitingUsage(MAX_ROWS)
        self._writer = secrets.token_bytes(16)
        self._sent = 0
        self._unsent: UsageBatch | None = None
        self._tasks: set[asyncio.Task[None]] = set()  # kept here, because a loop holds its tasks only weakly
        self._holding: set[_Keeper] = set()
        self._epoch = 0
        self._due = self._timed_until = -inf

    def __repr__(self) -> str:
        return f"<UsageRecorder of {type(self._store).__name__}, {self.waiting} rows wait>"

    @property
    def waiting(self) -> int:
        """Number of usage rows that are not yet stored. To include cache hits, call ``collect_hits`` first."""
        return len(self._table) + (0 if self._unsent is None else len(self._unsent.rows))

    # --- counting -----------------------------------------------------------------------------------------------------

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        viewer: str | None = None,
        resolves: int = 0,
        queries: int = 0,
        rows: int = 0,
        seconds: float = 0.0,
    ) -> None:
        with self._lock:
            row, microseconds = (int(self._clock() // _HOUR), environment, group, source, ""), round(seconds * 1e6)
            found = self._table[row]
            found[0] += queries
            found[1] += rows
            found[2] += microseconds
            found[3] += resolves
            if viewer:
                self._table.count_viewer(row, viewer, (queries, rows, microseconds, resolves))
            for observer in self.observers:  # they get no viewer: metrics must not name one
                observer.add(
                    environment, group, source=source, resolves=resolves, queries=queries, rows=rows, seconds=seconds
                )
            if time.monotonic() >= self._timed_until or len(self._table) >= MANY_ROWS:
                self._ensure_timer()

    def counted(self, group: UserGroup) -> UserGroup:
        """Count a resolved token or pass, and return ``group``."""
        self.add(group.environment.name, group.provided_id, viewer=group.viewer_id, resolves=1)
        return group

    def count_hit(self, entry: CountedEntry) -> None:
        """Count one use of the cache entry."""
        with self._lock:
            entry.hits += 1
            if entry.hits == 1:
                self._note_hits_of(entry)

    def _note_hits_of(self, entry: CountedEntry) -> None:
        hour = int(self._clock() // _HOUR)
        if hour != self._hour_of_hits or len(self._hits) >= MAX_HITS:
            self._collect_hits()
            self._hour_of_hits = hour
        self._hits.append(entry)
        if time.monotonic() >= self._timed_until:
            self._ensure_timer()

    def collect_hits(self) -> None:
        """Move the ``hits`` of all cache entries into the counts."""
        with self._lock:
            self._collect_hits()

    def _collect_hits(self) -> None:
        entries, self._hits = self._hits, []
        for entry in entries:
            hits, entry.hits = entry.hits, 0
            group = entry.group
            environment, provided_id = group.environment.name, group.provided_id
            row = (self._hour_of_hits, environment, provided_id, "", "")
            self._table[row][3] += hits
            if group.viewer_id:
                self._table.count_viewer(row, group.viewer_id, (0, 0, 0, hits))
            for observer in self.observers:
                observer.add(environment, provided_id, resolves=hits)

    # --- when ---------------------------------------------------------------------------------------------------------

    def _ensure_timer(self) -> None:
        # The caller holds the lock.
        now = time.monotonic()
        # While an event loop writes, do not bring the timer forward: that loop sets the next timer when it is done.
        hurries = len(self._table) >= MANY_ROWS and not self._down and not self._is_sending() and now < self._due
        is_set = now < self._timed_until
        if is_set and not hurries:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no loop runs in this thread; `aclose` or a later count writes these counts
            return
        keeper = self._keepers.get()
        keeper.recorder = self
        self._holding.add(keeper)
        if hurries:
            self._due = now
        elif now >= self._due + _OVERDUE:
            self._due = now + self._seconds * random.uniform(0.8, 1.0)  # noqa: S311 - so that processes do not all write at the same time
        self._set_timer(loop, now)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, now: float) -> None:
        self._epoch += 1
        at = min(self._due, now + _HOUR - self._clock() % _HOUR)
        self._timed_until = at + _OVERDUE
        loop.call_later(max(0.0, at - now), self._tick, self._epoch)

    def _tick(self, epoch: int) -> None:
        loop, now = asyncio.get_running_loop(), time.monotonic()
        with self._lock:
            if epoch != self._epoch:
                return
            if int(self._clock() // _HOUR) != self._hour_of_hits:
                self._collect_hits()
            if now < self._due:
                self._set_timer(loop, now)
                return
            self._due = self._timed_until = -inf
        task = loop.create_task(self.flush(), name="tenantry.usage")
        silence_destroy_warning(task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- sending ------------------------------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Send the counts to the store, unless another event loop is sending. Never raises. If a batch fails, the next
        flush sends it again."""
        if not self.waiting and not self._hits:
            return
        async with self._sending.get():
            loop = asyncio.get_running_loop()
            with self._lock:
                if self._is_sending():
                    return
                self._sender = loop
            try:
                await self._send()
            except Exception as error:  # noqa: BLE001 - whatever a store raises, no caller can handle it
                self._failed(error)
            else:
                self._succeeded()
            finally:
                with self._lock:
                    if self._sender is loop:
                        self._sender = None
                    if self.waiting:
                        self._ensure_timer()
                    elif not self._hits:
                        self._let_go()

    def _is_sending(self) -> bool:
        # If the sending event loop was closed, another loop sends its batch again.
        return self._sender is not None and not self._sender.is_closed()

    def _let_go(self) -> None:
        for keeper in self._holding:
            keeper.recorder = None
        self._holding.clear()
        self._timed_until = -inf  # so that the next count sets a timer and makes a _Keeper

    async def _send(self) -> None:
        self.collect_hits()
        if self._table.has_seen_viewers:
            environments = await self._store.environments_with_viewer_usage()
            with self._lock:
                self._table.count_viewers_in(environments)
        for _ in range(
            ceil(len(self._table) / BATCH_ROWS) + (self._unsent is not None)
        ):  # this many batches and no more, because new rows may keep coming
            if self._unsent is None:
                self._unsent = self._next_batch()
            await self._store.add(self._unsent)
            self._unsent = None

    def _next_batch(self) -> UsageBatch:
        with self._lock:
            taken = self._table.take(BATCH_ROWS)
        self._sent += 1
        sums: dict[
            tuple[int, UsageKey], Usage
        ] = {}  # `_as_text` may make two names equal, but a batch must have each row once
        for (hour, *names), usage in taken.items():
            row = (hour, UsageKey(*map(_as_text, names)))
            sums[row] = sums[row].plus(usage) if row in sums else usage
        rows = [HourlyUsage(datetime.fromtimestamp(hour * _HOUR, UTC), key, used) for (hour, key), used in sums.items()]
        return UsageBatch(self._writer, self._sent, rows)

    def _failed(self, error: Exception) -> None:
        if not self._down:
            self._down = True
            reason = f"{error.code}: {error.message}" if isinstance(error, TenantryError) else error_location(error)
            logger.warning(
                "the usage of groups cannot be written to the store and is kept in memory for now: %s", reason
            )
        if len(self._table) >= MAX_ROWS and not self._is_full:
            self._is_full = True
            logger.warning(
                "more than %d rows of usage wait for the store: the usage of further groups is summed as one group",
                MAX_ROWS,
            )

    def _succeeded(self) -> None:
        if self._down:
            self._down = self._is_full = False
            logger.warning("the usage of groups can be written to the store again")


class _Keeper:
    recorder: UsageRecorder | None = None

    async def aclose(self) -> None:
        if self.recorder is not None:
            recorder, self.recorder = self.recorder, None
            await recorder.flush()


class NoRecorder:
    def counted(self, group: UserGroup) -> UserGroup:
        return group

    def count_hit(self, entry: CountedEntry) -> None: ...

    async def flush(self) -> None: ...


NO_RECORDER: Final = NoRecorder()


def recorder_of(store: object) -> UsageRecorder | None:
    """Return the recorder of a store or of a backend's store, or None."""
    recorder: UsageRecorder | None = getattr(store, "usage_recorder", None)
    return recorder


def _as_text(name: str) -> str:
    # Remove characters that a database refuses: one of them would make the whole batch fail.
    return str(name).encode("utf-8", "replace").decode().replace("\0", "")[:255]


_recorders: weakref.WeakSet[UsageRecorder] = weakref.WeakSet()


def _begin_all() -> None:  # a forked process must not send its parent's counts again
    for recorder in list(_recorders):
        recorder._begin()


if hasattr(os, "register_at_fork"):  # not on Windows, where there are no forks
    os.register_at_fork(after_in_child=_begin_all)
