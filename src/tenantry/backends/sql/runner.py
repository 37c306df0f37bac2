from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.changes import ChangeListeners
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import StoreReplaced, WriteContext, WriteResult
from tenantry.backends.sql.engine import StoreBusy, StoreEngine, mark_retrieved
from tenantry.backends.sql.host_slots import HostSlots, StoreIdentity, raise_lease, rename, write_nothing
from tenantry.backends.sql.queries import IDENTITY, Query
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sqlite import SQLiteEngine
from tenantry.database import RUN_MIGRATE, PostgresServer, SQLiteFile, load_psycopg
from tenantry.errors import MigrationNeeded, OutcomeUnknown, StoreUnavailable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_WAITING = 0.95
"""The fraction of the caller's timeout that a call may take."""
_ATTEMPTS = 3


class Write(Protocol[T_co]):
    def __call__(self, connection: Connection, context: WriteContext) -> T_co: ...


class Runner:
    """Runs reads and writes with deadlines, and announces writes on this host by odd versions in the slots.
    ``timeout``: maximum seconds that callers wait."""

    def __init__(
        self,
        address: SQLiteFile | PostgresServer,
        *,
        timeout: float,
        run_dir: str | Path | None = None,
        before_close: Callable[[], Awaitable[None]],
        keys: ChainKeys | None = None,
    ) -> None:
        self.listeners: ChangeListeners = ChangeListeners()
        self.host_slots: HostSlots = HostSlots(run_dir, self._identity, self._rename)
        self._label = address.label
        self._timeout = timeout
        self._keys = keys
        self._tasks: set[asyncio.Task[Any]] = set()
        self._engine: StoreEngine
        if isinstance(address, SQLiteFile):
            self._engine = SQLiteEngine(address)
        else:
            load_psycopg()  # raises an error that names the package to install
            from tenantry.backends.sql.postgres import PostgresEngine  # SQLite does not need SQLAlchemy's dialect

            self._engine = PostgresEngine(address, before_close)

    def deadline(self, at_least: float = 0.0) -> float:
        """Return a deadline slightly before the caller's timeout, but at least ``at_least`` seconds from now."""
        return time.monotonic() + max(self._timeout * _WAITING, at_least)

    def read(self, query: Query, deadline: float, /, **values: Any) -> Awaitable[Sequence[Row]]:
        return self._engine.read(query, values, deadline)

    def look_up(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        return self._engine.look_up(handle, deadline)

    async def _identity(self, deadline: float) -> StoreIdentity:
        found = await self.read(IDENTITY, deadline)
        if not found:
            raise MigrationNeeded(f"the {self._label} has an empty table `generation`: {RUN_MIGRATE}")
        identity, lease = rows.identity(found[0])
        self.host_slots.raise_longest_lease(lease)
        return identity

    async def _rename(self, identity: StoreIdentity, deadline: float) -> StoreIdentity:
        await self._engine.write(partial(rename, identity=identity), deadline, _nothing)
        return await self._identity(deadline)

    async def open_slots(self, identity: StoreIdentity, deadline: float, *, lease: float | None) -> None:
        """Open this host's slots for a reader. Record the reader's ``lease``, in seconds, if it is the store's longest.
        Raises StoreUnavailable; the reader must then cache nothing."""
        identity, slots = await self.host_slots.open(identity, deadline)
        if lease is None:
            return
        before = await self._engine.write(partial(raise_lease, seconds=lease), deadline, _nothing)
        self.host_slots.raise_longest_lease(lease)
        _, found = await self.host_slots.open(
            identity, deadline
        )  # a writer that did not see the lease may have replaced the file
        if found is slots and not before:  # the store's first lease: no process has a lease under an older file
            slots.settle()

    async def check_writes(self, deadline: float) -> None:
        """Check that the database and this host's run folder permit writes. Raises StoreUnavailable. A database that is
        busy until ``deadline`` passes the check."""
        await self.host_slots.for_writing(deadline)
        try:
            await self._engine.write(write_nothing, deadline, _nothing)
        except (StoreBusy, OutcomeUnknown):
            return

    async def write(self, work: Write[T], context: WriteContext, deadline: float) -> T:
        return await self._run_to_end(
            self._engine.write(partial(work, context=replace(context, keys=self._keys)), deadline, _nothing)
        )

    async def write_to(
        self, handles: Sequence[bytes], work: Write[WriteResult[T]], context: WriteContext, deadline: float
    ) -> T:
        """Run ``work`` in a transaction. Until the transaction ends, the slots of ``handles`` have odd versions.
        Then notify the listeners."""
        return await self._run_to_end(self._announce_and_write(handles, work, context, deadline))

    async def _run_to_end(self, writing: Coroutine[Any, Any, T]) -> T:
        # Finish the write even if the caller is cancelled: otherwise a slot would stay odd.
        task = asyncio.create_task(writing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(mark_retrieved)
        return await asyncio.shield(task)

    async def _announce_and_write(
        self, handles: Sequence[bytes], work: Write[WriteResult[T]], context: WriteContext, deadline: float
    ) -> T:
        for _ in range(_ATTEMPTS):
            identity, slots = await self.host_slots.for_writing(deadline)
            announced = ExitStack()
            for handle in handles:
                announced.enter_context(slots.writing(handle))
            do = partial(work, context=replace(context, identity=identity, keys=self._keys))
            late = partial(self._ended, announced)
            try:
                written = await self._engine.write(do, deadline, late)
            except StoreReplaced:
                announced.close()
                self.host_slots.forget()
                continue
            except (OutcomeUnknown, asyncio.CancelledError):
                # The commit may still happen. If the version became even now, a reader could cache an older answer. So
                # the slot stays odd, and nothing in it is cached, until ``late`` is called. If that never happens, a
                # reader repairs the slot when it has been odd for as long as the reader's lease. If another write to
                # the slot ends first, it makes the version even: then polls report this commit, as on other hosts.
                raise
            except BaseException:
                announced.close()
                raise
            self._ended(announced, written)
            await self.host_slots.wait_until_visible(identity, slots, handles)
            value: T = written.value
            return value
        raise StoreUnavailable(f"the {self._label} is being replaced by another store: try again")

    def _ended(self, announced: ExitStack, written: WriteResult[Any] | None) -> None:
        announced.close()
        for each in () if written is None else written.counted:
            self.host_slots.raise_longest_lease(each.longest_lease)
            self.listeners.notify(each.handle, each.generation)

    async def aclose(self) -> None:
        self.host_slots.forget()
        await self._engine.aclose()


def _nothing(_: object) -> None:
    return
