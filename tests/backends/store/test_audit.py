"""The audit trail in SQL cannot be altered by who may write to the tables."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupDraft, Tag
from tenantry.testing import make_token

FORGERIES = (
    "update audit set author = 'somebody else'",
    "delete from audit",
    "delete from audit where number = 1",
)
INSTEAD = (
    "insert or replace into audit (number, at, author, action, environment, subject, details)"
    " values (1, 0, 'x', 'x', 'x', 'x', '{}')"
)


async def test_a_file_keeps_its_trail(sqlite_url: str) -> None:
    """SQLite refuses to update, delete or replace an entry, with the reason. Red without the triggers."""
    store = SQLStore(sqlite_url)
    await store.environments.create("production", Tag.CUSTOMER)
    before = await store.audit.list()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    for forgery in (*FORGERIES, INSTEAD):
        with pytest.raises(sqlite3.IntegrityError, match="audit trail is append-only"):
            other.execute(forgery)
    other.close()
    assert await store.audit.list() == before
    await store.aclose()


async def test_a_server_keeps_its_trail(postgres_url: str, postgres: Postgres) -> None:
    """PostgreSQL refuses to update, delete or truncate. Red without the trigger."""
    store = SQLStore(postgres_url)
    await store.environments.create("production", Tag.CUSTOMER)
    before = await store.audit.list()
    for forgery in (*FORGERIES, "truncate audit"):
        with pytest.raises(AssertionError, match="audit trail is append-only"):
            postgres.execute(forgery, url=postgres_url)
    assert await store.audit.list() == before
    await store.aclose()


async def test_who_reads_on_misses_nothing(postgres_url: str) -> None:
    """Writers at the same time, and a reader who goes on from the last number that he saw. Red when a number is drawn
    before the lock: another is committed first, and the reader has gone beyond it.
    """
    stores = [SQLStore(postgres_url) for _ in range(2)]
    environment = await stores[0].environments.create("production", Tag.CUSTOMER)
    read: list[int] = []

    async def write(store: SQLStore, writer: int) -> None:
        for number in range(40):
            await store.groups.get_or_create(environment, GroupDraft(f"{writer}-{number}", "x"), make_token())

    async def read_on() -> None:
        while len(read) < total:
            read.extend(entry.number for entry in await stores[1].audit.list(after=read[-1] if read else 0, limit=500))
            await asyncio.sleep(0)

    total = 1 + 8 * 40
    async with asyncio.TaskGroup() as group:
        writers = [group.create_task(write(stores[each % 2], each)) for each in range(8)]
        reader = group.create_task(read_on())
        await asyncio.gather(*writers)
        every = [entry.number for entry in await stores[0].audit.list(limit=1_000)]
        await asyncio.wait({reader}, timeout=60)
        reader.cancel()
    assert read == every
    for store in stores:
        await store.aclose()
