"""A store is migrated while processes of the version before serve it: none of them lets an old token live.

They know another run folder and note no lease, so they are kept from polling and from writing, and the first writes
under the new table wait until what they cached has run out.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest
from alembic import command

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.tables import metadata, revisions
from tenantry.database.migrations import _lock_tables, check, migrate
from tenantry.database.own_tables import TABLES
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import SOURCES_HANDLE, GroupDraft, Tag
from tenantry.testing import make_token
from tests.backends.store.test_migrations import _OLD_ROWS, _upgrade_to

pytestmark = pytest.mark.slow

_POLL = """
select generation.store_id, generation.number, listed.generation, listed.handle, listed.at from generation
  left join (select changes.generation, changes.handle, changes.at from changes limit 5) as listed on true
"""
_WRITE = "insert into changes (generation, handle, at) values (1, {handle}, 0)"
"""As revision 0002's processes send them."""


@pytest.fixture(params=["sqlite", "postgres"])
def used(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store at revision 0002 with a group; its processes run."""
    sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/used.db" if sqlite else postgres.create_database()
    with monkeypatch.context() as patch:
        patch.setattr(command, "upgrade", partial(_upgrade_to, command.upgrade, "0002"))
        migrate(url)
    handle, nonce = ("x'0102030405060708'", "x'00'") if sqlite else ("'\\x0102030405060708'", "'\\x00'")
    _run(url, postgres, _OLD_ROWS.format(handle=handle, nonce=nonce))
    _run(url, postgres, _POLL)
    _run(url, postgres, _WRITE.format(handle=handle))
    _run(url, postgres, "delete from changes")
    return url


def _run(url: str, postgres: Postgres, script: str) -> None:
    if url.startswith("postgresql"):
        postgres.execute(script, url=url)
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(statement).fetchall()
        connection.commit()


def test_a_process_of_the_version_before_polls_and_writes_no_more(used: str, postgres: Postgres) -> None:
    """Red when the step only adds columns: such a process kept its lease, looked at a table that no new process
    writes, and accepted an old token for 0.9 s after its rotation had returned (seen with real processes)."""
    migrate(used)
    for statement in (_POLL, _WRITE.format(handle="'x'")):
        with pytest.raises((sqlite3.OperationalError, AssertionError, RuntimeError), match=r"\bat\b"):
            _run(used, postgres, statement)


async def test_what_it_has_cached_runs_out_before_a_write_returns(used: str) -> None:
    """Five seconds, the default staleness bound. Red when the step leaves the longest lease at 0."""
    migrate(used)
    store = SQLStore(used)
    environment = await store.environments.get("production")
    assert environment is not None
    found = await store.groups.get(environment, "acme")
    assert found is not None
    begun = time.monotonic()
    await store.groups.rotate(environment, found.token, key_id="k1", nonce=secrets.token_bytes(16))
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


COLUMNS = "(environment_id, id, provided_id, url, trusted, created_at)"
_OLD_SOURCE_WRITES = (
    f"insert into data_sources {COLUMNS} values (1, 'ds_1', 'warehouse', 'sqlite:////a.db', false, 0)",
    "update data_sources set url = 'sqlite:////b.db'",
    "delete from data_sources where environment_id = 1 and id = 'ds_1'",
)
"""As a process of revision 0003 sends them, and somebody by hand: neither counts a change."""


@pytest.fixture(params=["sqlite", "postgres"])
def before_sources(
    request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A store at revision 0003 with an environment and a data source."""
    url = f"sqlite:///{tmp_path}/used.db" if request.param == "sqlite" else postgres.create_database()
    with monkeypatch.context() as patch:
        patch.setattr(command, "upgrade", partial(_upgrade_to, command.upgrade, "0003"))
        migrate(url)
    environment = (
        "insert into environments (name, tag, external_data_sources, created_at) values ('production', 'Customer', "
        "false, 0)"
    )
    _run(url, postgres, environment)
    _run(url, postgres, _OLD_SOURCE_WRITES[0])
    return url


async def test_data_sources_of_the_version_before(before_sources: str, postgres: Postgres) -> None:
    """They are there after the step, and what its processes go on to write is a change that caches follow.

    Red without the triggers: a registration that such a process deletes would be used for ever.
    """
    migrate(before_sources)
    store = SQLStore(before_sources)
    place = await store.environments.get("production")
    assert place is not None
    reading = await store.sources.get_at_snapshot(place, "warehouse")
    assert reading.source is not None
    assert (reading.source.id, reading.generation) == ("ds_1", 0)
    for number, statement in enumerate((*_OLD_SOURCE_WRITES[1:], _OLD_SOURCE_WRITES[0]), 1):
        await asyncio.to_thread(_run, before_sources, postgres, statement)
        listed = await store.changes(number - 1)
        assert [(change.generation, change.handle) for change in listed.changes] == [(number, SOURCES_HANDLE)]
        assert listed.changes[0].age < 60
    assert (await store.sources.get_at_snapshot(place, "ds_1")).generation == 3
    await store.sources.delete(place, "warehouse")
    assert (await store.sources.get_at_snapshot(place, "ds_1")).source is None
    assert (await store.changes(3)).generation == 4
    await store.aclose()


async def test_no_registration_is_cached_without_the_triggers(before_sources: str, tmp_path: Path) -> None:
    """A process of this version on tables of the one before asks for the migration; it caches nothing.

    Red when the read at a snapshot names nothing that the step has made.
    """
    store = SQLStore(before_sources, run_dir=tmp_path / "run")
    place = await store.environments.get("production")
    assert place is not None
    with pytest.raises(MigrationNeeded):
        await store.sources.get_at_snapshot(place, "warehouse")
    await store.aclose()


_WAITING = """
select from pg_locks join pg_database on oid = database where datname = current_database() and not granted
"""
_LOCK_GENERATION = "select from generation for no key update"


@pytest.mark.parametrize(
    ("revision", "first", "then"),
    [
        ("0003", "select from data_sources for update", _LOCK_GENERATION),
        ("0006", _LOCK_GENERATION, "select from user_groups"),
        ("0010", _LOCK_GENERATION, "lock table audit in row exclusive mode"),
    ],
    ids=["a data source", "a look-up", "a change"],
)
async def test_what_runs_and_the_migration_do_not_block_each_other(
    revision: str, first: str, then: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of an earlier version has locked one table and then asks for another; the migration gives way.

    Red when the steps lock their tables one by one: PostgreSQL ends one of the two for a deadlock.
    """
    url = _at_revision(revision, postgres, monkeypatch)
    async with await psycopg.AsyncConnection.connect(url) as process:
        await process.execute(first)
        migrating = asyncio.create_task(asyncio.to_thread(migrate, url))
        await _until_one_waits(url)
        await process.execute(then)
        await process.commit()
    await migrating
    check(url)


async def test_a_long_read_in_the_way_of_a_migration_holds_up_nobody_else(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads while a dump does waits for a moment, not until the dump has ended.

    Red when the migration waits for its locks as long as it may: all who come later wait behind it.
    """
    url = _at_revision("0010", postgres, monkeypatch)
    async with await psycopg.AsyncConnection.connect(url) as dump:
        await dump.execute("select from audit")
        migrating = asyncio.create_task(asyncio.to_thread(migrate, url))
        await _until_one_waits(url)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as reader:
            await reader.execute("set statement_timeout = '20s'")
            await reader.execute("select from generation, audit")
        assert not migrating.done()
    await migrating
    check(url)


async def test_a_migration_gives_up_when_it_may_wait_no_longer(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says why, and nothing has changed. Red when it tries for ever."""
    url = _at_revision("0010", postgres, monkeypatch)
    monkeypatch.setattr("tenantry.database.migrations._lock_tables", partial(_lock_tables, seconds=0))
    async with await psycopg.AsyncConnection.connect(url) as dump:
        await dump.execute("select from audit")
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            await asyncio.to_thread(migrate, url)
    with pytest.raises(MigrationNeeded, match="0010"):
        check(url)


async def test_what_another_version_migrated_is_refused_without_a_lock(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when the tables are locked before their revision is looked up: it waits for whoever reads."""
    url = _at_revision("0010", postgres, monkeypatch)
    _run(url, postgres, "update alembic_version set version_num = 'f00d'")
    monkeypatch.setattr("tenantry.database.migrations._lock_tables", partial(_lock_tables, seconds=0))
    async with await psycopg.AsyncConnection.connect(url) as dump:
        await dump.execute("select from audit")
        with pytest.raises(StoreUnavailable, match="another version"):
            await asyncio.to_thread(migrate, url)


def test_the_migration_knows_all_tables() -> None:
    """It locks those that it knows. Red when a step brings a table that is not named there."""
    assert {*TABLES} >= {*metadata.tables, revisions.name}


def _at_revision(revision: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a database whose tables are of this revision."""
    url = postgres.create_database()
    with monkeypatch.context() as patch:
        patch.setattr(command, "upgrade", partial(_upgrade_to, command.upgrade, revision))
        migrate(url)
    return url


async def _until_one_waits(url: str) -> None:
    """For a lock, in this database."""
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
        while not await (await other.execute(_WAITING)).fetchall():
            await asyncio.sleep(0.05)
