from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TypeVar

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.sql import queries, rows
from tenantry.backends.sql.api_tokens import SQLApiTokens
from tenantry.backends.sql.audit import SQLAuditTrail
from tenantry.backends.sql.codes import SQLCodes
from tenantry.backends.sql.defects import StoreDefects, find_defects
from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.environments import SQLEnvironments
from tenantry.backends.sql.groups import SQLGroups
from tenantry.backends.sql.host_slots import StoreIdentity
from tenantry.backends.sql.runner import Runner
from tenantry.backends.sql.sealed_entries import EMPTY_GENERATION
from tenantry.backends.sql.sources import SQLSources
from tenantry.backends.sql.usage import SQLUsage
from tenantry.backends.stored import StoreClock
from tenantry.cache.slots import SharedSlots
from tenantry.database import RUN_MIGRATE, SQLiteFile, read_address
from tenantry.database.migrations import HEAD, is_compatible
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import (
    Change,
    Changes,
    LookupResult,
    Token,
    UserGroup,
)
from tenantry.ports import ChangeListener, Clock, WrittenBackend
from tenantry.usage import UsageRecorder

T = TypeVar("T")

PAGE = 150
"""Maximum number of changes that one statement reads. On SQLite, reading this many changes blocks the event loop for up
to 550 µs."""

WRITES_CHECKED_SECONDS = 1.0
"""After a successful test write, ``ready`` makes no further test write for this number of seconds."""


class SQLStore(WrittenBackend):
    """A Store at ``sqlite:///file.db``, ``sqlite:////absolute/file.db`` or ``postgresql://…``. Several event loops may
    use it. It does no I/O before its first use. ``tenantry migrate`` creates the tables. Raises InvalidSettings.

    - ``deadline``: seconds after which a call raises StoreUnavailable. A write may take longer: up to 0.25 s for
      SQLite's commit, plus ``settling`` seconds. ``usage.sums`` may take 60 s.
    - ``run_dir``: folder shared by all processes of this host (None: see ``tenantry.cache.slots``). If it cannot be
      used, writes fail.
    - ``clock``: returns the current time (None: PostgreSQL's clock or, for SQLite, this host's).
    - ``keys``: SigningKeys that seal audit entries.
    - ``usage_seconds``: seconds between two writes of usage (None: do not store usage).
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 2.0,
        run_dir: str | Path | None = None,
        clock: Clock | None = None,
        usage_seconds: float | None = 60.0,
        keys: ChainKeys | None = None,
    ) -> None:
        address = read_address(url)
        self.label: str = address.label
        self._is_sqlite = isinstance(address, SQLiteFile)
        self._clock = StoreClock(clock)
        self._runner = Runner(address, timeout=deadline, run_dir=run_dir, before_close=self._flush_usage, keys=keys)
        shared = self._runner, self._clock
        self.groups: SQLGroups = SQLGroups(*shared)
        self.environments: SQLEnvironments = SQLEnvironments(*shared)
        self.api_tokens: SQLApiTokens = SQLApiTokens(*shared)
        self.sources: SQLSources = SQLSources(*shared)
        self.codes: SQLCodes = SQLCodes(*shared)
        self.usage: SQLUsage = SQLUsage(*shared)
        self.audit: SQLAuditTrail = SQLAuditTrail(*shared)
        self.usage_recorder: UsageRecorder | None = (
            None if usage_seconds is None else UsageRecorder(self.usage, usage_seconds)
        )

        self._writes_checked_at = float("-inf")

    def __repr__(self) -> str:
        return f"<SQLStore in {self.label}>"

    async def find(self, token: Token) -> UserGroup | None:
        return (await self.read_at_snapshot(token, fresh=True)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # always fresh
        runner = self._runner
        return rows.lookup_result(await runner.look_up(token.handle, runner.deadline()), token, self._clock)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        runner = self._runner
        changes, identity, longest = await _read_changes(runner, self._clock, since)
        await runner.open_slots(identity, runner.deadline(), lease=lease if lease > longest else None)
        return changes

    @property
    def slots(self) -> SharedSlots | None:
        return self._runner.host_slots.slots

    @property
    def settling(self) -> float:
        return self._runner.host_slots.settling

    def subscribe(self, listener: ChangeListener) -> None:
        self._runner.listeners.subscribe(listener)

    async def _flush_usage(self) -> None:
        if self.usage_recorder is not None:
            await self.usage_recorder.flush()

    async def ready(self) -> None:
        """Check that the tables can be used and that a write can succeed. Raises MigrationNeeded if this version cannot
        use the tables, and StoreUnavailable for other problems."""
        deadline = self._runner.deadline()
        await self._check_tables(deadline)
        await self._check_writes(deadline)

    async def defects(self) -> StoreDefects:
        """Find missing triggers and rights. Raises StoreUnavailable."""
        return await find_defects(self._runner, is_sqlite=self._is_sqlite)

    async def _check_writes(self, deadline: float) -> None:
        now = time.monotonic()
        if now - self._writes_checked_at >= WRITES_CHECKED_SECONDS:
            await self._runner.check_writes(now + remaining(deadline) / 2)
            self._writes_checked_at = now

    async def _check_tables(self, deadline: float) -> None:
        found = ", ".join(row[0] for row in await self._runner.read(queries.REVISION, deadline)) or "none"
        if found == HEAD:
            return
        try:
            listed = (await self._runner.read(queries.COMPATIBLE, deadline))[0][0]
        except (MigrationNeeded, IndexError):  # tables from before the first release
            listed = None
        if not is_compatible(found, listed):
            raise MigrationNeeded(f"the {self.label} is at revision {found}, this version needs {HEAD}: {RUN_MIGRATE}")

    async def aclose(self) -> None:
        """Store pending usage and close connections. Later calls open them again."""
        await self._flush_usage()
        await self._runner.aclose()


async def _read_changes(runner: Runner, clock: StoreClock, since: int | None) -> tuple[Changes, StoreIdentity, float]:
    """Return the changes (at most LISTED_CHANGES), the identity, and the longest lease in seconds. Raises
    StoreUnavailable, MigrationNeeded."""
    deadline = runner.deadline()
    first, identity, lease = await _page(runner, clock, -1 if since is None else since, deadline)
    page = first
    begin, found = page.since, list[Change](page.changes)
    while page.changes and found[-1].generation < first.generation:
        page, identity, lease = await _page(runner, clock, found[-1].generation, deadline)
        if page.store_id != first.store_id or page.generation < first.generation or not page.changes:
            raise StoreUnavailable("the store was replaced while its changes were read: try again")
        if page.since != found[-1].generation:  # old changes were deleted meanwhile
            begin, found = page.since, []
        found += page.changes
    listed = Changes(first.store_id, found[-1].generation if found else first.generation, begin, tuple(found))
    return listed, identity, lease


async def _page(runner: Runner, clock: StoreClock, since: int, deadline: float) -> tuple[Changes, StoreIdentity, float]:
    found = await runner.read(queries.CHANGES, deadline, since=since, limit=PAGE)
    if not found:
        raise MigrationNeeded(EMPTY_GENERATION)
    await asyncio.sleep(0)  # reads of SQLite do not await, so let other tasks run after each page
    identity, lease = rows.identity((found[0][1], *found[0][6:]))
    runner.host_slots.raise_longest_lease(lease)
    return rows.changes(found, clock.at(found[0][0])), identity, lease
