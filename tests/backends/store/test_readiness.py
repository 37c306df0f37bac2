"""A store is ready while writes can succeed: it reads and writes, and says why when it cannot."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import psycopg
import pytest
from sqlalchemy import Connection

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.backends.sql import store as of_store
from tenantry.backends.sql.change_log import WriteContext
from tenantry.errors import StoreUnavailable
from tenantry.groups import UNNAMED
from tests.backends.store.acme import acme


@pytest.fixture(autouse=True)
def checks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_store, "WRITES_CHECKED_SECONDS", 0.0)


async def until(store: SQLStore, message: str) -> None:
    """Waits until HTTP says this of the store; nothing means that it is ready."""
    said = ""
    with anyio.fail_after(60):
        while True:
            try:
                await store.ready()
                said = ""
            except StoreUnavailable as error:
                said = error.public_message
            if said == message:
                return
            await anyio.sleep(0.05)


async def test_a_primary_that_becomes_read_only(postgres_url: str, postgres: Postgres) -> None:
    """As a standby does, or a server that its provider has closed for writes. Ready again when it takes writes.

    Red when ``ready`` only reads: ready all the time. The write itself said "does not answer: try again".
    """
    store = SQLStore(postgres_url)
    issued = await acme(store)
    await store.ready()
    name = urlsplit(postgres_url).path[1:]
    for setting, message in (("on", "the database of the store is read-only"), ("off", "")):
        postgres.execute(f"alter database {name} set default_transaction_read_only = {setting}")
        postgres.disconnect(postgres_url)
        await until(store, message)
        if setting == "on":
            with pytest.raises(StoreUnavailable, match="is read-only: it is a standby, or default_transaction"):
                await store.groups.delete(issued.group.environment, "acme")
    await store.aclose()


async def test_a_file_that_becomes_read_only(sqlite_url: str) -> None:
    """Red when ``ready`` only reads."""
    store = SQLStore(sqlite_url)
    await acme(store)
    await store.ready()

    def close_for_writes(connection: Connection, context: WriteContext) -> None:
        connection.exec_driver_sql("pragma query_only = on")

    runner = store._runner
    await runner.write(close_for_writes, WriteContext(UNNAMED, store._clock), runner.deadline())
    with pytest.raises(StoreUnavailable, match="is read-only: the user of this process needs write access") as caught:
        await store.ready()
    assert caught.value.public_message == "the database of the store is read-only"
    await store.aclose()


async def test_a_run_folder_that_cannot_be_used(url: str, tmp_path: Path) -> None:
    """Without it no write can succeed. Red without ``for_writing`` before the write."""
    (tmp_path / "taken").write_text("a file where the folder should be")
    store = SQLStore(url, run_dir=tmp_path / "taken")
    with pytest.raises(StoreUnavailable, match="taken"):
        await store.ready()
    await store.aclose()


def locked(url: str) -> Any:
    """A connection that keeps every other write waiting."""
    if url.startswith("sqlite"):
        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("begin immediate")
        return connection
    connection = psycopg.connect(url)
    connection.execute("select from generation for update")
    return connection


async def test_a_busy_store_is_ready(url: str) -> None:
    """A long write of another process is no reason to send requests elsewhere. Red when any error of the write counts;
    on PostgreSQL red without ``skip locked`` when a lock that times out counts."""
    store = SQLStore(url)
    await store.ready()
    with closing(locked(url)):
        await store.ready()
    await store.aclose()


async def test_readiness_writes_once_a_second(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often anyone asks. Red without the time of the last check."""
    monkeypatch.setattr(of_store, "WRITES_CHECKED_SECONDS", 3_600.0)
    store = SQLStore(sqlite_url)
    await store.ready()
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as other:
        before = other.execute("pragma data_version").fetchone()
        for _ in range(10):
            await store.ready()
        assert other.execute("pragma data_version").fetchone() == before
    await store.aclose()
