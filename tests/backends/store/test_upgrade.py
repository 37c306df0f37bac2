"""A store that is in use: what its triggers count, how long its first writes wait, and a migration while processes
serve it."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.database import migrations
from tenantry.database.migrations import HEAD, _lock_tables, check, migrate
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import SOURCES_HANDLE, GroupDraft, Tag
from tenantry.testing import make_token

pytestmark = pytest.mark.slow


def _run(url: str, postgres: Postgres, script: str) -> None:
    if url.startswith("postgresql"):
        postgres.execute(script, url=url)
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(statement).fetchall()
        connection.commit()


async def test_what_is_cached_runs_out_before_a_write_returns(url: str, postgres: Postgres) -> None:
    """A process with another run folder may hold what it cached for the longest lease of the store, here 5 seconds. Red
    when the first write of a run folder returns at once."""
    first = SQLStore(url)
    environment = await first.environments.create("production", Tag.CUSTOMER)
    issued = await first.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
    await first.aclose()
    other_folder = f"update generation set longest_lease = 5000000, run_name = '{secrets.token_hex(8)}'"
    await asyncio.to_thread(_run, url, postgres, other_folder)
    store = SQLStore(url)
    begun = time.monotonic()
    await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    assert time.monotonic() - begun > 4.5
    await store.aclose()


async def test_a_new_store_waits_for_nobody(url: str) -> None:
    """No process served it before. Red when the step notes a lease whatever is there."""
    store = SQLStore(url)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    issued = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
    await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    assert store._runner.host_slots._longest_lease == 0
    await store.aclose()


_SOURCE_WRITES = (
    """insert into data_sources (environment_id, id, provided_id, url, trusted, created_at)
    values (1, 'ds_1', 'warehouse', 'sqlite:////a.db', false, 0)""",
    "update data_sources set url = 'sqlite:////b.db'",
    "delete from data_sources where environment_id = 1 and id = 'ds_1'",
)


async def test_data_sources_that_are_written_by_hand(url: str, postgres: Postgres) -> None:
    """Each write is a change that caches follow.

    Red without the triggers: a registration that somebody deletes by hand would be used for ever.
    """
    store = SQLStore(url)
    place = await store.environments.create("production", Tag.CUSTOMER)
    for number, statement in enumerate(_SOURCE_WRITES, 1):
        await asyncio.to_thread(_run, url, postgres, statement)
        listed = await store.changes(number - 1)
        assert [(change.generation, change.handle) for change in listed.changes] == [(number, SOURCES_HANDLE)]
        assert listed.changes[0].age < 60
    assert (await store.sources.get_at_snapshot(place, "ds_1")).generation == 3
    await asyncio.to_thread(_run, url, postgres, _SOURCE_WRITES[0])
    await store.sources.delete(place, "warehouse")
    assert (await store.sources.get_at_snapshot(place, "ds_1")).source is None
    assert (await store.changes(4)).generation == 5
    await store.aclose()


_NEXT = "9001"
_STEP = f'''
import sqlalchemy as sa
from alembic import op

revision = "{_NEXT}"
down_revision = "{HEAD}"


def upgrade():
    for table in ("audit", "user_groups", "generation", "data_sources"):
        op.add_column(table, sa.Column("later", sa.Text))
'''


@pytest.fixture
def used(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A migrated database for which this version has one more step."""
    copy = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, copy)
    (copy / "versions" / "9001_later.py").write_text(_STEP, "utf-8")
    monkeypatch.setattr(migrations, "__file__", str(copy / "__init__.py"))
    monkeypatch.setattr(migrations, "HEAD", _NEXT)
    return postgres_url


_WAITING = """
select from pg_locks join pg_database on oid = database where datname = current_database() and not granted
"""
_LOCK_GENERATION = "select from generation for no key update"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("select from data_sources for update", _LOCK_GENERATION),
        (_LOCK_GENERATION, "select from user_groups"),
        (_LOCK_GENERATION, "lock table audit in row exclusive mode"),
    ],
    ids=["a data source", "a look-up", "a change"],
)
async def test_what_runs_and_the_migration_do_not_block_each_other(first: str, then: str, used: str) -> None:
    """A process of an earlier version has locked one table and then asks for another; the migration gives way.

    Red when the steps lock their tables one by one: PostgreSQL ends one of the two for a deadlock.
    """
    async with await psycopg.AsyncConnection.connect(used) as process:
        await process.execute(first)
        migrating = asyncio.create_task(asyncio.to_thread(migrate, used))
        await _until_one_waits(used)
        await process.execute(then)
        await process.commit()
    await migrating
    check(used)


async def test_a_long_read_in_the_way_of_a_migration_holds_up_nobody_else(used: str) -> None:
    """Whoever reads while a dump does waits for a moment, not until the dump has ended.

    Red when the migration waits for its locks as long as it may: all who come later wait behind it.
    """
    async with await psycopg.AsyncConnection.connect(used) as dump:
        await dump.execute("select from audit")
        migrating = asyncio.create_task(asyncio.to_thread(migrate, used))
        await _until_one_waits(used)
        async with await psycopg.AsyncConnection.connect(used, autocommit=True) as reader:
            await reader.execute("set statement_timeout = '20s'")
            await reader.execute("select from generation, audit")
        assert not migrating.done()
    await migrating
    check(used)


async def test_a_migration_gives_up_when_it_may_wait_no_longer(used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why, and nothing has changed. Red when it tries for ever."""
    monkeypatch.setattr("tenantry.database.migrations._lock_tables", partial(_lock_tables, seconds=0))
    async with await psycopg.AsyncConnection.connect(used) as dump:
        await dump.execute("select from audit")
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            await asyncio.to_thread(migrate, used)
    with pytest.raises(MigrationNeeded, match=f"{HEAD}.*{_NEXT}"):
        check(used)


async def test_what_another_version_migrated_is_refused_without_a_lock(
    used: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when the tables are locked before their revision is looked up: it waits for whoever reads."""
    _run(used, postgres, "update alembic_version set version_num = 'f00d'")
    monkeypatch.setattr("tenantry.database.migrations._lock_tables", partial(_lock_tables, seconds=0))
    async with await psycopg.AsyncConnection.connect(used) as dump:
        await dump.execute("select from audit")
        with pytest.raises(StoreUnavailable, match="another version"):
            await asyncio.to_thread(migrate, used)


async def _until_one_waits(url: str) -> None:
    """For a lock, in this database."""
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
        while not await (await other.execute(_WAITING)).fetchall():
            await asyncio.sleep(0.05)
