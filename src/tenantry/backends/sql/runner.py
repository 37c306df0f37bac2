"""Runner: runs reads and writes on an engine, each by its deadline; the writes between the words that tell of them."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.listeners import Listeners
from tenantry.backends.sql import rows
from tenantry.backends.sql.engine import Engine
from tenantry.backends.sql.queries import IDENTITY, Query
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sqlite import SQLiteEngine
from tenantry.backends.sql.words import StoreIdentity, Words
from tenantry.backends.sql.write_identity import raise_lease, rename
from tenantry.backends.sql.write_journal import StoreReplaced, Writer, Written
from tenantry.database.address import RUN_MIGRATE, PostgresServer, SQLiteFile, load_psycopg
from tenantry.errors import MigrationNeeded, OutcomeUnknown, StoreUnavailable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_WAITING = 0.95
_ATTEMPTS = 3
_OPEN_ENDS = 1_000


class Write(Protocol[T_co]):
    """A write, as a function on a connection in a transaction."""

    def __call__(self, connection: Connection, writer: Writer) -> T_co: ...


class Runner:
    """One database, the patience of its callers in seconds, and who hears of its writes."""

    def __init__(
        self, address: SQLiteFile | PostgresServer, *, patience: float, run_dir: str | Path | None = None
    ) -> None:
        self.listeners = Listeners()
        self.words = Words(run_dir, self._identity, self._rename)
        self._label = address.label
        self._patience = patience
        self._tasks: set[asyncio.Task[Any]] = set()
        self._open_ends: deque[ExitStack] = deque(maxlen=_OPEN_ENDS)
        self._engine: Engine
        if isinstance(address, SQLiteFile):
            self._engine = SQLiteEngine(address)
        else:
            load_psycopg()  # an import would miss it with an error that does not say what to install
            from tenantry.backends.sql.postgres import PostgresEngine  # its dialect is loaded for this engine alone

            self._engine = PostgresEngine(address)

    def deadline(self) -> float:
        """The moment until which a call that begins now may wait: a little before its caller's patience ends, so that
        the answer is not late itself."""
        return time.monotonic() + self._patience * _WAITING

    def read(self, query: Query, deadline: float, /, **values: Any) -> Awaitable[Sequence[Row]]:
        return self._engine.read(query, values, deadline)

    def look(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        """The row of LOOK for this handle."""
        return self._engine.look(handle, deadline)

    async def _identity(self, deadline: float) -> StoreIdentity:
        found = await self.read(IDENTITY, deadline)
        if not found:
            raise MigrationNeeded(f"the {self._label} has lost its id: {RUN_MIGRATE}")
        identity, lease = rows.identity(found[0])
        self.words.learn_lease(lease)
        return identity

    async def _rename(self, identity: StoreIdentity, deadline: float) -> StoreIdentity:
        await self._engine.write(partial(rename, identity=identity), deadline, _nothing)
        return await self._identity(deadline)

    async def meet(self, identity: StoreIdentity, deadline: float, *, lease: float | None) -> None:
        """Finds this host's words for a reader. ``lease``: he will use what he knows for so many seconds, and the store
        does not know that yet. Raises StoreUnavailable: without the words nobody may keep what he read."""
        identity, slots = await self.words.of(identity, deadline)
        if lease is None:
            return
        before = await self._engine.write(partial(raise_lease, seconds=lease), deadline, _nothing)
        self.words.learn_lease(lease)
        _, found = await self.words.of(identity, deadline)  # a writer that did not know the lease may have made another
        if found is slots and not before:
            slots.settle()

    async def write(self, work: Write[T], writer: Writer, deadline: float) -> T:
        """One transaction that no cache has to hear of."""
        return await self._to_its_end(self._engine.write(partial(work, writer=writer), deadline, _nothing))

    async def write_to(self, handle: bytes, work: Write[Written[T]], writer: Writer, deadline: float) -> T:
        """One transaction on the group with this handle. Its word is odd from before the transaction until after the
        commit; then the listeners hear of the change, and then the caller has his answer."""
        return await self._to_its_end(self._between_words(handle, work, writer, deadline))

    async def _to_its_end(self, writing: Coroutine[Any, Any, T]) -> T:
        """A write goes on when its caller is cancelled: only its real end ends what was announced."""
        task = asyncio.create_task(writing)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def _between_words(self, handle: bytes, work: Write[Written[T]], writer: Writer, deadline: float) -> T:
        for _ in range(_ATTEMPTS):
            identity, slots = await self.words.for_writing(deadline)
            announced = ExitStack()
            announced.enter_context(slots.writing(handle))
            do = partial(work, writer=replace(writer, identity=identity))
            late = partial(self._ended, announced, handle)
            try:
                written = await self._engine.write(do, deadline, late)
            except StoreReplaced:
                announced.close()
                self.words.forget()
                continue
            except (OutcomeUnknown, asyncio.CancelledError):
                # The commit may still come. An even word now would let answers be kept that were read before it, so it
                # stays odd: nobody keeps anything of this group, until ``late`` tells the end, or a reader has seen the
                # odd word stand for as long as its lease and puts an even one there; then the leases bound what may be
                # stale. Kept here, for a context that is thrown away would end by itself.
                self._open_ends.append(announced)
                raise
            except BaseException:
                announced.close()
                raise
            self._ended(announced, handle, written)
            await self.words.settle(identity, slots, handle)
            value: T = written.value
            return value
        raise StoreUnavailable(f"the {self._label} is being replaced by another: try again")

    def _ended(self, announced: ExitStack, handle: bytes, written: Written[Any] | None) -> None:
        """The write is over. ``written``: None if nothing was changed."""
        announced.close()
        if written is not None and written.counted is not None:
            self.words.learn_lease(written.counted.longest_lease)
            self.listeners.tell(handle, written.counted.generation)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen, also when the caller is gone: it has been told or did not want to know

    async def aclose(self) -> None:
        self.words.forget()
        await self._engine.aclose()


def _nothing(_: object) -> None:
    return
