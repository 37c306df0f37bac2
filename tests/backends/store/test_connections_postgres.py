"""A store leaves no PostgreSQL connection open, and replaces none that still works."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Coroutine, Generator
from contextlib import asynccontextmanager
from types import coroutine
from typing import Any

import asyncpg
import pytest
from psycopg import waiting

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.database.address import PostgresServer, read_address
from tenantry.database.postgres import PostgresConnection
from tenantry.errors import StoreUnavailable, Unauthorized
from tenantry.groups import ApiToken, Issued, Scope, Tag
from tests.backends.store.acme import acme, rotate


def _connections(store: SQLStore) -> Any:
    return store._runner._engine._connections.get()  # type: ignore[attr-defined]


def _open_writers(store: SQLStore) -> set[PostgresConnection]:
    return {each for each in _connections(store)._writers if not each.closed}


@asynccontextmanager
async def _waiting_write(store: SQLStore, url: str, issued: Issued) -> AsyncIterator[asyncio.Task[Issued]]:
    """A write that waits for a lock, until the block ends."""
    other = await asyncpg.connect(url)
    try:
        async with other.transaction():
            await other.execute("select * from user_groups for update")
            writing = asyncio.create_task(rotate(store, issued))
            while not await other.fetchval("select count(*) from pg_locks where not granted"):
                await asyncio.sleep(0.02)
            yield writing
    finally:
        await other.close()


async def test_a_closed_store_leaves_no_connection_open(postgres_url: str) -> None:
    """A write that waits for a lock while its store is closed ends as unavailable. Red if
    ``_PostgresConnections.aclose`` neither cancels late writes nor closes all of ``_writers``: the garbage collector
    found the write's connection open."""
    store = SQLStore(postgres_url)
    async with _waiting_write(store, postgres_url, await acme(store)) as writing:
        (writer,) = _open_writers(store)
        await store.aclose()
        assert writer.closed
    with pytest.raises(StoreUnavailable):
        await writing


async def test_a_write_closes_its_connection_if_the_pool_was_replaced(postgres_url: str, postgres: Postgres) -> None:
    """A lost connection makes a write replace the pool while another write uses a connection of the old one. Red
    without the second ``dispose``: that connection went back to the old pool, and the garbage collector found it."""
    store = SQLStore(postgres_url)
    issued = await acme(store)
    await asyncio.gather(*(store.environments.create(name, Tag.CUSTOMER) for name in ("second", "third", "fourth")))
    assert len(_open_writers(store)) > 1
    async with _waiting_write(store, postgres_url, issued) as writing:
        idle = (
            "select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity"
            " where datname = current_database() and state = 'idle' and application_name = 'tenantry'"
        )
        await asyncio.to_thread(postgres.execute, idle, url=postgres_url)
        await store.environments.create("fifth", Tag.CUSTOMER)
        assert not writing.done()
    assert (await writing).token.version == 2
    assert len(_open_writers(store)) == _connections(store).engine.pool.checkedin() == 1
    await store.aclose()


async def test_a_rollback_keeps_the_prepared_statements(postgres_url: str) -> None:
    """Red with psycopg's own ``rollback``: it deallocates all, so the next write failed, closed every idle connection
    and ran again."""
    store = SQLStore(postgres_url)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    issuers = [
        await store.api_tokens.create(environment, digest=digest * 32, label="x", scopes=[Scope.PREVIEW], hint="abcd")
        for digest in (b"a", b"b")
    ]

    async def add(issuer: ApiToken) -> None:
        digest = secrets.token_bytes(32)
        await store.codes.add(digest, purpose="session", payload="x", lifetime=60, api_token_id=issuer.id)

    for _ in range(8):  # psycopg prepares a statement after five
        await add(issuers[0])
    (writer,) = _open_writers(store)
    await store.api_tokens.revoke(environment, issuers[1].id)
    with pytest.raises(Unauthorized):
        await add(issuers[1])
    await add(issuers[0])
    assert _open_writers(store) == {writer}
    await store.aclose()


@coroutine
def _cancelled_at(step: int, work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run ``work``, and cancel it where it gives way to the event loop for the ``step``th time."""
    for _ in range(step):
        try:
            waited_for = work.send(None)
        except StopIteration as end:
            return end.value
        yield waited_for
    return work.throw(asyncio.CancelledError())


@pytest.mark.parametrize("transactions", [False, True], ids=["reader", "writer"])
async def test_a_cancelled_connect_leaves_no_connection_open(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, transactions: bool
) -> None:
    """Red for a writer if ``set_autocommit`` is outside of the ``try``: in a busy process psycopg yields to the event
    loop also where nothing is sent."""
    made: list[PostgresConnection] = []

    class Recorded(PostgresConnection):
        def __init__(self, *args: Any) -> None:
            made.append(self)
            super().__init__(*args)

    monkeypatch.setattr("tenantry.database.postgres.PostgresConnection", Recorded)
    monkeypatch.setattr(waiting, "MAX_BUSY_TIME", 0)
    server = read_address(postgres_url)
    assert isinstance(server, PostgresServer)
    complete, step = 0, 1
    while (
        len(made) < complete + 2
    ):  # until two were cancelled after the connection was made: how often it yields differs
        try:
            connection = await _cancelled_at(step, server.connect(seconds=20, transactions=transactions))
        except asyncio.CancelledError:
            assert all(each.closed for each in made), step
            step += 1
        else:
            connection.terminate()
            complete, step = complete + 1, 1
            assert complete < 100


@pytest.mark.parametrize("transactions", [False, True], ids=["reader", "writer"])
async def test_a_cancelled_query_closes_the_connection_of_a_reader_alone(postgres_url: str, transactions: bool) -> None:
    """A writer ends its query at the server, and rolls back. Red when ``connect`` treats both alike."""
    server = read_address(postgres_url)
    assert isinstance(server, PostgresServer)
    connection = await server.connect(seconds=60, transactions=transactions)
    other = await asyncpg.connect(postgres_url)
    sleeping = asyncio.create_task(connection.run("select pg_sleep(60)", ()))
    while not await other.fetchval("select count(*) from pg_stat_activity where wait_event = 'PgSleep'"):
        await asyncio.sleep(0.02)
    await other.close()
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    assert connection.closed is not transactions
    if transactions:
        await connection.rollback()
        assert await connection.run("select 1", ()) == ([(1,)], 1)
    connection.terminate()
