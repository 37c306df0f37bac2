"""What callers get when PostgreSQL is locked, silent or gone: StoreUnavailable by the deadline, or the truth
that the outcome is not known.

The upper bounds of time are several times what is promised: they tell "covered by one deadline" from "not covered",
not fast from slow.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.groups import Issued, Tag
from tests.backends.store.acme import RecordingListener, acme, rotate, version_of
from tests.backends.store.proxy import Proxy, proxied


@asynccontextmanager
async def _behind_proxy(url: str, deadline: float) -> AsyncIterator[tuple[SQLStore, Proxy, Issued, RecordingListener]]:
    """A store whose connections, all open already, go through a proxy. The deadline holds from then on."""
    async with proxied(url) as (proxy, through):
        store = SQLStore(through)
        issued = await acme(store)
        listener = RecordingListener()
        store.subscribe(listener)
        await store.changes(None)
        assert await store.find(issued.token) == issued.group
        store._runner._timeout = deadline
        yield store, proxy, issued, listener
        await store.aclose()


async def test_a_refused_connection_is_unavailable() -> None:
    """No server at the address: reads and writes are refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # held, and never listening: nobody else can answer there
        port = probe.getsockname()[1]
        store = SQLStore(f"postgresql://postgres@127.0.0.1:{port}/nothing")
        with pytest.raises(StoreUnavailable, match=rf"connection refused by 127\.0\.0\.1:{port}"):
            await store.environments.list()
        with pytest.raises(StoreUnavailable, match=rf"connection refused by 127\.0\.0\.1:{port}"):
            await store.environments.create("production", Tag.CUSTOMER)
        await store.aclose()


async def test_a_missing_database_is_named(postgres: Postgres) -> None:
    """A server without that database is unavailable, and the message names what is missing."""
    store = SQLStore(urlunsplit(urlsplit(postgres.url)._replace(path="/nothing_here")))
    with pytest.raises(StoreUnavailable, match=r"nothing_here.*no such database"):
        await store.environments.list()
    await store.aclose()


async def test_a_silent_server_is_unavailable() -> None:
    """A port that takes connections and never answers: reads and writes end by the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = SQLStore(f"postgresql://postgres@127.0.0.1:{silent.getsockname()[1]}/nothing", deadline=0.3)
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await store.environments.list()
        with pytest.raises(StoreUnavailable):
            await store.environments.create("production", Tag.CUSTOMER)
        assert time.monotonic() - began < 30  # without it the driver waits for a minute
        await store.aclose()


async def test_a_server_that_falls_silent_is_unavailable(postgres_url: str) -> None:
    """A network that swallows everything after the connections were made: one deadline for each call.

    Red when the caller waits for the broken connection to be closed politely.
    """
    async with _behind_proxy(postgres_url, 0.5) as (store, proxy, issued, listener):
        proxy.silent = True
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await store.find(issued.token)
        with pytest.raises(StoreUnavailable):
            await rotate(store, issued)
        assert time.monotonic() - began < 30
        assert listener.generations == []


async def _unknown(store: SQLStore, issued: Issued) -> None:
    """A rotation of unknown outcome, with nothing of it left in the frame of the caller."""
    with pytest.raises(OutcomeUnknown, match="check"):
        await rotate(store, issued)


@pytest.mark.parametrize("reached", [True, False])
async def test_a_cut_commit_is_an_unknown_outcome(postgres_url: str, reached: bool) -> None:
    """When the line breaks at COMMIT the caller gets OutcomeUnknown; reading shows what came of it.

    Red when the transaction is simply tried again: it would be done twice, or refused as already rotated.
    """
    async with _behind_proxy(postgres_url, 60) as (store, proxy, issued, listener):
        proxy.cut_after, proxy.cut_before = (b"COMMIT", None) if reached else (None, b"COMMIT")
        await _unknown(store, issued)
        assert listener.generations == []
        await asyncio.sleep(0)
        gc.collect()  # a context that is thrown away would end by itself
        assert version_of(store, issued) & 1  # nobody will report how it ended
        proxy.cut_after = proxy.cut_before = None
        async with asyncio.timeout(120):
            while (got := await store.groups.get(issued.group.environment, "acme")) and got.token.version < 1 + reached:
                await asyncio.sleep(0.01)
        assert got is not None
        assert got.token.version == 1 + reached


async def test_connections_that_died_unseen_are_replaced(postgres_url: str, postgres: Postgres) -> None:
    """After the server dropped every connection the next read and the next write succeed, each at its second try.

    Red when the retry of either is taken out.
    """
    store = SQLStore(postgres_url)
    issued = await acme(store)
    kill = (
        "select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    assert int(await asyncio.to_thread(postgres.execute, kill, url=postgres_url)) >= 2
    assert await store.find(issued.token) == issued.group
    await asyncio.to_thread(postgres.execute, kill, url=postgres_url)
    assert (await rotate(store, issued)).token.version == 2
    await store.aclose()


@pytest.mark.parametrize("table", ["user_groups alter column name type text", "generation alter number type numeric"])
async def test_an_altered_table_does_not_break_held_statements(
    postgres_url: str, postgres: Postgres, table: str
) -> None:
    """ALTER TYPE makes a prepared statement invalid; reads and writes prepare it anew.

    Red without the retry of an outdated statement: the write raised the driver's own error, which is a 500.
    """
    store = SQLStore(postgres_url)
    issued = await acme(store)
    for _ in range(8):  # the server keeps its plan after some uses
        issued = await rotate(store, issued)
    assert await store.find(issued.token) == issued.group
    await asyncio.to_thread(postgres.execute, f"alter table {table}", url=postgres_url)
    assert await store.find(issued.token) == issued.group
    assert (await rotate(store, issued)).token.version == 10
    await store.aclose()


async def test_a_locked_row_ends_by_the_deadline(postgres_url: str) -> None:
    """A group that another transaction holds is unavailable by the deadline, and later writes find it free again."""
    import asyncpg

    patient = SQLStore(postgres_url)
    issued = await acme(patient)
    store = SQLStore(postgres_url, deadline=0.5)
    other = await asyncpg.connect(postgres_url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("select * from user_groups for update")
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await rotate(store, issued)
    assert time.monotonic() - began < 30  # without it for as long as the other transaction lasts
    await transaction.rollback()
    await other.close()
    assert (await rotate(patient, issued)).token.version == 2
    await patient.aclose()
    await store.aclose()
