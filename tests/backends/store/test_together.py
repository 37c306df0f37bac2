"""What is done together: look-ups of one tick on PostgreSQL, queued writes on SQLite. Each caller is answered alone."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.change_log import WriteContext
from tenantry.backends.sql.postgres import PostgresEngine, ReadConnections
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sqlite import SQLiteEngine
from tenantry.backends.stored import StoredGroup
from tenantry.database.address import PostgresServer
from tenantry.errors import StoreUnavailable, TokenAlreadyRotated
from tenantry.groups import UNNAMED, GroupDraft, IdempotencyKey, Issued, Tag
from tenantry.testing import make_token


async def _groups(store: SQLStore, count: int) -> list[Issued]:
    environment = await store.environments.create("production", Tag.CUSTOMER)
    return [await store.groups.get_or_create(environment, GroupDraft(f"g{n}", "G"), make_token()) for n in range(count)]


async def _rotate(store: SQLStore, issued: Issued, once: IdempotencyKey | None = None) -> Issued:
    nonce = secrets.token_bytes(16)
    return await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=nonce, once=once)


class _Statements:
    """Counts what the readers are asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[int] = []
        fetch = ReadConnections.fetch

        async def counted(this: ReadConnections, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
            (given,) = values
            self.asked.append(len(given) if isinstance(given, list) else 1)
            return await fetch(this, text, values, deadline)

        monkeypatch.setattr(ReadConnections, "fetch", counted)


async def test_look_ups_of_one_tick_are_one_statement(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 groups missed at once are one statement, 1,100 are five; one alone is a point read.

    Red when each look goes to the database by itself.
    """
    store = SQLStore(postgres_url)
    issued = await _groups(store, 64)
    statements = _Statements(monkeypatch)
    found = await asyncio.gather(*(store.read_at_snapshot(each.token, fresh=True) for each in issued))
    assert [reading.group for reading in found] == [each.group for each in issued]
    assert statements.asked == [64]
    assert (await store.read_at_snapshot(issued[0].token, fresh=True)).group == issued[0].group
    nothing = await asyncio.gather(*(store.read_at_snapshot(make_token(), fresh=True) for _ in range(1_100)))
    assert {(reading.group, reading.generation) for reading in nothing} == {(None, 0)}
    assert statements.asked == [64, 1, 250, 250, 250, 250, 100]
    await store.aclose()


async def test_a_cancelled_look_up_harms_no_other(postgres_url: str) -> None:
    """Of three reads in one statement, two of one handle, the first is cancelled: the others have their answers."""
    store = SQLStore(postgres_url)
    one, two = await _groups(store, 2)
    reads = [asyncio.ensure_future(store.read_at_snapshot(each.token, fresh=True)) for each in (one, one, two)]
    await asyncio.sleep(0)
    reads[0].cancel()
    await asyncio.sleep(0)
    reads[0].cancel()
    assert [(await look).group for look in reads[1:]] == [one.group, two.group]
    assert reads[0].cancelled()
    await store.aclose()


async def test_a_statement_that_fails_fails_for_all(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the reads gets StoreUnavailable, and the next ones are asked again. Red when one waits for ever."""
    store = SQLStore(postgres_url)
    issued = await _groups(store, 3)

    async def broken(*_: object) -> Sequence[Row]:
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr(ReadConnections, "_fetch", broken)
        outcomes = await asyncio.gather(
            *(store.read_at_snapshot(each.token, fresh=True) for each in issued), return_exceptions=True
        )
    assert [type(each) for each in outcomes] == [StoreUnavailable] * 3
    found = await asyncio.gather(*(store.read_at_snapshot(each.token, fresh=True) for each in issued))
    assert [reading.group for reading in found] == [each.group for each in issued]
    await store.aclose()


def test_a_loop_that_ended_within_a_tick_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when what was asked in it stays, and with it the loop, for ever."""
    monkeypatch.setattr(ReadConnections, "fetch", _nothing)
    engine = PostgresEngine(PostgresServer("", "nowhere"))
    loop = asyncio.new_event_loop()

    async def ask() -> None:
        loop.stop()
        await engine.look_up(bytes(8), 0.0)

    async def ask_elsewhere() -> Row:
        row = await engine.look_up(bytes(8), 0.0)
        assert list(engine._connections._values) == [asyncio.get_running_loop()]
        return row

    asked = loop.create_task(ask())
    loop.run_forever()
    asked._log_destroy_pending = False  # type: ignore[attr-defined]  # it is left as it is
    loop.close()
    assert asyncio.run(ask_elsewhere()) == (None, 7)


async def _nothing(this: ReadConnections, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
    return [(None, 7)]


async def test_of_two_rotations_that_read_one_revision_one_is_saved(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row's lock keeps the second from reading before the first has saved; here it reads what the first read. It is
    refused, nothing of it stays, and the first one's token is the live one.

    Red without the revision in the WHERE clause of the update: the second is saved over the first.
    """
    store = SQLStore(url, deadline=20)
    (issued,) = await _groups(store, 1)
    read: list[StoredGroup] = []
    rotated = StoredGroup.rotated

    def from_the_first_read(stored: StoredGroup, *args: Any, **kwargs: Any) -> StoredGroup:
        read.append(stored)
        return rotated(read[0], *args, **kwargs)

    monkeypatch.setattr(StoredGroup, "rotated", from_the_first_read)
    first = await _rotate(store, issued)
    with pytest.raises(StoreUnavailable, match="at the same time"):
        await _rotate(store, issued)
    assert [stored.group.revision for stored in read] == [1, 2]
    assert await store.groups.get(issued.group.environment, "g0") == first
    assert await store.find(first.token) == first.group
    assert (await store.changes(0)).generation == 1
    await store.aclose()


class _Held:
    """Holds the writing thread in a write until ``release``, so that the writes after it queue up."""

    def __init__(self, store: SQLStore) -> None:
        self._begun, self._free = threading.Event(), threading.Event()
        runner = self._runner = store._runner
        context = WriteContext(UNNAMED, store._clock)
        self._task = asyncio.ensure_future(runner.write(self._wait, context, runner.deadline()))

    def _wait(self, connection: Connection, context: WriteContext) -> None:
        self._begun.set()
        assert self._free.wait(120)

    async def begun(self) -> None:
        async with asyncio.timeout(120):
            while not self._begun.is_set():  # it is set in another thread
                await asyncio.sleep(0.01)

    async def release(self, writes: int) -> None:
        """When so many have come to the queue."""
        engine = self._runner._engine
        assert isinstance(engine, SQLiteEngine)
        assert engine._writer is not None
        async with asyncio.timeout(120):
            while len(engine._writer._queue) < writes:
                await asyncio.sleep(0.01)
        self._free.set()
        await self._task


async def test_queued_writes_share_a_commit_and_fail_alone(sqlite_url: str) -> None:
    """Twelve rotations queue up, two for each of six groups: each group's first wins, its second is refused and undone,
    and the file was committed to once.

    Red without savepoints (a refused write undoes its neighbours, or stays half done), and when each write commits by
    itself.
    """
    store = SQLStore(sqlite_url, deadline=20)
    issued = await _groups(store, 6)
    held = _Held(store)
    await held.begun()
    wal = Path(sqlite_url.removeprefix("sqlite:///") + "-wal")
    once = [
        IdempotencyKey(f"key-{number}", (bytes(32),)) for number in range(6)
    ]  # claimed before the refusal: that is undone
    asked = list(zip(issued * 2, [None] * 6 + once, strict=True))
    rotations = [asyncio.ensure_future(_rotate(store, each, key)) for each, key in asked]
    await asyncio.sleep(0)
    before = _commits(wal)
    await held.release(12)
    outcomes = await asyncio.gather(*rotations, return_exceptions=True)
    assert _commits(wal) - before == 1
    won = [each for each in outcomes if isinstance(each, Issued)]
    assert len(won) == 6
    assert sum(isinstance(each, TokenAlreadyRotated) for each in outcomes) == 6
    for each in won:
        assert await store.find(each.token) == each.group
    listed = await store.changes(0)
    assert [change.generation for change in listed.changes] == list(range(1, 7))
    assert len(await store.audit.list()) == 1 + 6 + 6
    for each, key in zip(won, once, strict=True):
        assert not (await _rotate(store, each, key)).replayed
    await store.aclose()


async def test_a_write_at_fault_takes_no_other_with_it(sqlite_url: str) -> None:
    """A write that ends in an error of the database shares a commit with two others: it alone is refused, and nothing
    of the transaction that failed is passed on to anybody.

    Red when all of a failed commit are refused, or answered as if it had been done.
    """
    store = SQLStore(sqlite_url, deadline=20)
    issued = await _groups(store, 2)
    runner, context = store._runner, WriteContext(UNNAMED, store._clock)
    begun: list[int] = []

    def broken(connection: Connection, context: WriteContext) -> None:
        begun.append(1)
        connection.exec_driver_sql("update generation set number = 77")
        connection.exec_driver_sql("select nonsense")

    held = _Held(store)
    await held.begun()
    writes: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(_rotate(store, issued[0])),
        asyncio.ensure_future(runner.write(broken, context, runner.deadline())),
        asyncio.ensure_future(_rotate(store, issued[1])),
    ]
    await held.release(3)
    first, refused, last = await asyncio.gather(*writes, return_exceptions=True)
    assert len(begun) == 2  # with the others, and then alone
    assert isinstance(refused, StoreUnavailable)
    for each in (first, last):
        assert isinstance(each, Issued)
        assert await store.find(each.token) == each.group
    assert [change.generation for change in (await store.changes(0)).changes] == [1, 2]
    await store.aclose()


def _commits(wal: Path) -> int:
    """Commits in a write-ahead log: the frames whose header gives the size of the database after them."""
    content = wal.read_bytes()
    size = 24 + int.from_bytes(content[8:12], "big")
    frames = [content[at : at + 24] for at in range(32, len(content), size)]
    salt = content[16:24]
    return sum(frame[8:16] == salt and frame[4:8] != bytes(4) for frame in frames)
