"""The database itself counts each write to a data source, whoever makes it and however: what a cache has of it goes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.groups import SOURCES_HANDLE, SourceDraft, Tag

COLUMNS = "(environment_id, id, provided_id, url, trusted, created_at)"
ROW = COLUMNS + " values (1, 'ds_{0}', 'own_{0}', 'sqlite:///{0}.db', false, 0)"
UPSERT = "on conflict (environment_id, id) do update set url = ''"
ON_BOTH = {
    "insert": f"insert into data_sources {ROW.format(3)}",
    "upsert": f"insert into data_sources {ROW.format(1)} {UPSERT}",
    "update": "update data_sources set url = 'sqlite:///other.db' where id = 'ds_1'",
    "another id": "update data_sources set id = 'ds_9' where id = 'ds_1'",
    "another environment": "update data_sources set environment_id = 2 where id = 'ds_1'",
    "delete": "delete from data_sources where id = 'ds_1'",
    "delete all": "delete from data_sources",
}
ON_SQLITE = {
    "replace": f"insert or replace into data_sources {ROW.format(1)}",
    "replace by the other id": f"replace into data_sources {COLUMNS} values (1, 'ds_7', 'own_1', '', false, 0)",
    "update or replace": "update or replace data_sources set provided_id = 'own_2' where id = 'ds_1'",
}
ON_POSTGRESQL = {
    "truncate": "truncate data_sources",
    "another search path": "set search_path = ''; delete from public.data_sources",
    "merge": "merge into data_sources using (select 1) as other on id = 'ds_1' when matched then delete",
    "with": "with gone as (delete from data_sources returning id) select count(*) from gone",
    "copy": f"copy data_sources {COLUMNS} from program 'printf \"1\\tds_3\\town_3\\t-\\tf\\t0\\n\"'",
}


async def _generation_of_a_source(store: SQLStore) -> int:
    changes = (await store.changes(None)).changes
    return max((change.generation for change in changes if change.handle == SOURCES_HANDLE), default=0)


async def _with_sources(url: str, run_dir: Path) -> SQLStore:
    store = SQLStore(url, run_dir=run_dir)
    for name in ("production", "staging"):
        environment = await store.environments.create(name, Tag.CUSTOMER)
    for number in ("1", "2"):
        production = await store.environments.get("production")
        assert production is not None
        await store.sources.create(production, f"ds_{number}", SourceDraft(f"own_{number}", "sqlite:///a.db"))
    assert environment.id == 2
    return store


@pytest.mark.parametrize("statement", [*ON_BOTH.values(), *ON_SQLITE.values()], ids=[*ON_BOTH, *ON_SQLITE])
async def test_statements_by_hand_on_sqlite(statement: str, sqlite_url: str, tmp_path: Path) -> None:
    """Red when a trigger is missing."""
    store = await _with_sources(sqlite_url, tmp_path)
    before = await _generation_of_a_source(store)
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute(statement)
    assert await _generation_of_a_source(store) > before
    await store.aclose()


@pytest.mark.parametrize("statement", [*ON_BOTH.values(), *ON_POSTGRESQL.values()], ids=[*ON_BOTH, *ON_POSTGRESQL])
async def test_statements_by_hand_on_postgresql(
    statement: str, postgres_url: str, postgres: Postgres, tmp_path: Path
) -> None:
    """Red when the trigger is not of each way to write, or finds its tables by the path of the session alone."""
    store = await _with_sources(postgres_url, tmp_path)
    before = await _generation_of_a_source(store)
    postgres.execute(statement, url=postgres_url)
    assert await _generation_of_a_source(store) > before
    await store.aclose()
