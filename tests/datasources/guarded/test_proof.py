"""A source proves its declaration on its first connection; until it fits, no query runs."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tenantry.datasources import DataSources, check_connection
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.errors import InvalidSource, QueryFailed, SourceUnavailable
from tenantry.groups import RegisteredSource
from tenantry.http.responses import error_document
from tenantry.sql.guarding import read_stored_tables
from tests.datasources.conftest import PRODUCTION, Directory, group
from tests.datasources.guarded.shop import ACME, DECLARATION, FORGETFUL, STATEMENTS, TABLES, owned, shop

Make = Callable[..., DataSources]
WRONG = json.dumps({"tables": {"orders": "ownr"}})


class Sent:
    """The statements that SQLite drivers send. ``is_lost``: no proof gets an answer."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.threads: set[int] = set()
        self.is_lost = False
        self.seconds = 0.0

    @property
    def proofs(self) -> int:
        return sum("where 1 = 0" in sql for sql in self.statements)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    found, execute = Sent(), SQLiteDriver._execute

    def watched(self: SQLiteDriver, connection: Any, bound: Any) -> Any:
        found.statements.append(bound.sql)
        if "where 1 = 0" in bound.sql:
            time.sleep(found.seconds)
            if found.is_lost:
                raise SourceUnavailable("the server went away")
        else:
            found.threads.add(threading.get_ident())
        return execute(self, connection, bound)

    monkeypatch.setattr(SQLiteDriver, "_execute", watched)
    return found


async def test_it_is_proved_once(directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent) -> None:
    """By one of the connections that open at the same time, before the first query. Red when each connection proved
    it, and when the others did not wait for the proof."""
    directory.add(1, shop(tmp_path / "shop.db"), tables=TABLES)
    sources, acme, sent.seconds = open_sources(pool_size=4), group(main="own_1"), 0.1
    slow = "select id, owner, {{ params.n }} as n from orders"
    asked = [sources.fetch(acme, "main", slow, {"params": {"n": n}}) for n in range(8)]
    for rows in await asyncio.gather(*asked):
        assert owned(rows) == ACME
    assert sent.proofs == 1
    assert "where 1 = 0" in sent.statements[0]
    assert len(sent.threads) > 1
    assert owned(await sources.fetch(acme, "main", FORGETFUL)) == ACME
    assert sent.proofs == 1


@pytest.mark.parametrize("way", ["fetch", "stream"])
async def test_nothing_runs_until_it_fits(
    way: str, directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator reads the table, the column and the fix; a viewer does not. A failure is not remembered: the table
    may get the column. Red without the check of new connections, and when a failure counted as proved."""
    url = shop(tmp_path / "shop.db")
    directory.add(1, url, tables=WRONG)
    sources, acme = open_sources(), group(main="own_1")

    async def ask() -> Any:
        if way == "fetch":
            return await sources.fetch(acme, "main", "select 1 as id, 'acme' as owner")
        return [chunk async for chunk in await sources.stream(acme, "main", "select 1 as id, 'acme' as owner")]

    for _ in range(2):
        with caplog.at_level(logging.ERROR), pytest.raises(InvalidSource) as caught:
            await ask()
        error = caught.value
        for word in ("ds_1", "the table orders", "the column ownr", "tenantry data-source update own_1 --tables"):
            assert word in error.message
        assert error.message in caplog.text
        assert "own" not in error.public_message
        assert "orders" not in str(error_document(error, None))
    assert [sql for sql in sent.statements if "1 = 0" not in sql] == []
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("alter table orders add column ownr text")
    await ask()


async def test_it_is_proved_again_after_a_change(
    directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent
) -> None:
    """Red when the proof was kept by the name of the source."""
    url = shop(tmp_path / "shop.db")
    directory.add(1, url, tables=TABLES)
    sources, acme = open_sources(), group(main="own_1")
    assert owned(await sources.fetch(acme, "main", FORGETFUL)) == ACME
    directory.registered[0] = replace(directory.registered[0], tables=WRONG)
    with pytest.raises(InvalidSource):
        await sources.fetch(acme, "main", FORGETFUL)
    directory.registered[0] = replace(directory.registered[0], tables=TABLES)
    assert owned(await sources.fetch(acme, "main", FORGETFUL)) == ACME
    assert sent.proofs == 3


async def test_a_shared_table_is_proved_too(
    directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent
) -> None:
    """Red when only guarded tables were proved: a misspelt name was found by the first query that read it."""
    directory.add(
        1, shop(tmp_path / "shop.db"), tables=json.dumps({"tables": {"orders": "owner", "cuntries": "shared"}})
    )
    with pytest.raises(InvalidSource, match="the table cuntries with every row"):
        await open_sources().fetch(group(main="own_1"), "main", FORGETFUL)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
async def test_a_reserved_word_needs_quotes(
    engine: str, directory: Directory, open_sources: Make, tmp_path: Path
) -> None:
    """The message says so, since the engines only report a syntax error. Red without the hint."""
    connect = duckdb.connect if engine == "duckdb" else sqlite3.connect
    with closing(connect(str(tmp_path / "shop.db"))) as connection:
        connection.execute('create table "order" (id integer, owner text)')
    directory.add(1, f"{engine}:///{tmp_path / 'shop.db'}", tables=json.dumps({"tables": {"order": "owner"}}))
    query = """select id from "order" """
    with pytest.raises(InvalidSource, match=r"""reserved words in double quotes, as in `'"order"': customer_id`"""):
        await open_sources().fetch(group(main="own_1"), "main", query)
    directory.registered[0] = replace(directory.registered[0], tables=json.dumps({"tables": {'"order"': "owner"}}))
    assert await open_sources().fetch(group(main="own_1"), "main", query) == []


async def test_a_source_that_does_not_answer_the_proof(
    directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent
) -> None:
    """That is no fault of the declaration, and no proof of it. Red when every error was InvalidSource."""
    directory.add(1, shop(tmp_path / "shop.db"), tables=TABLES)
    sources, acme, sent.is_lost = open_sources(), group(main="own_1"), True
    with pytest.raises(SourceUnavailable, match="went away"):
        await sources.fetch(acme, "main", FORGETFUL)
    sent.is_lost = False
    assert owned(await sources.fetch(acme, "main", FORGETFUL)) == ACME
    assert sent.proofs == 2


UNUSABLE = {
    "not JSON": ("{", "cannot be used"),
    "not a declaration": ('{"table": {}}', "tables"),
    "required without a list": ('{"tables": {}, "guard": "required"}', "they list no table"),
    "no list": ("{}", "they list no table"),
}


@pytest.mark.parametrize("case", UNUSABLE)
async def test_a_declaration_that_cannot_be_used(
    case: str, directory: Directory, open_sources: Make, tmp_path: Path, sent: Sent
) -> None:
    """As a hand may write it into the store. Red when such a source ran as if it had no declaration."""
    text, word = UNUSABLE[case]
    source = directory.add(1, shop(tmp_path / "shop.db"), tables=text)
    sources, acme = open_sources(), group(main="own_1")
    calls: list[Callable[[], Any]] = [
        lambda: sources.fetch(acme, "main", FORGETFUL),
        lambda: sources.stream(acme, "main", FORGETFUL),
        lambda: sources.fingerprint(acme, "main", FORGETFUL),
        lambda: check_connection(source),
    ]
    for call in calls:
        with pytest.raises(InvalidSource, match=word):
            await call()
    assert sent.statements == []


async def test_without_sqlglot(
    directory: Directory, open_sources: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: Sent
) -> None:
    """The error names the extra; a source without a declaration runs. Red when the reader did not look for it."""
    read_stored_tables.cache_clear()
    monkeypatch.setitem(sys.modules, "sqlglot", None)  # what blocks an import
    url, acme = shop(tmp_path / "shop.db"), group(main="own_1")
    source = directory.add(1, url, tables=TABLES)
    sources = open_sources()
    for call in (lambda: sources.fetch(acme, "main", FORGETFUL), lambda: check_connection(source)):
        with pytest.raises(InvalidSource, match=r"pip install 'tenantry\[guard\]'"):
            await call()
    assert sent.statements == []
    directory.registered[0] = RegisteredSource("ds_1", "own_1", PRODUCTION, url)
    assert len(await sources.fetch(acme, "main", FORGETFUL)) == 4


async def test_row_level_security_that_needs_the_session(
    postgres: Any, directory: Directory, open_sources: Make
) -> None:
    """A policy may read a session variable that only queries set. The proof, which reads no row, does without."""
    url = postgres.create_database()
    for statement in (
        "create table orders (id integer, owner text)",
        "insert into orders values (1, 'acme'), (2, 'acme'), (3, 'globex')",
        "alter table orders enable row level security",
        "alter table orders force row level security",
        "create policy own on orders using (owner = current_setting('app.tenant'))",
        "drop role if exists w2_reader",
        "create role w2_reader login",
        "grant select on orders to w2_reader",
    ):
        postgres.execute(statement, url=url)
    scheme, rest = url.split("://", 1)
    reader = f"{scheme}://w2_reader@{rest.split('@', 1)[1]}"
    directory.add(1, reader, tables=TABLES, session=(("app.tenant", "{{ user_group.id }}"),))
    assert owned(await open_sources().fetch(group(main="own_1"), "main", FORGETFUL)) == ACME


ROW_FUNCTIONS = {
    "of_table": "(orders)",
    "of_record": "(record)",
    "of_anything": "(anyelement)",
    "with_a_default": "(orders, n integer default 1)",
    "of_many": "(variadic orders[])",
    "of_a_domain": "(some_order)",
    "Quoted": "(orders)",
}
OTHER_FUNCTIONS = {
    "of_a_text": "(text)",
    "of_two": "(orders, integer)",
    "of_an_array": "(anyarray)",
    "revoked": "(orders)",
}


async def test_functions_that_are_called_without_brackets(
    postgres: Any, directory: Directory, open_sources: Make
) -> None:
    """PostgreSQL calls them for ``orders.name``, which the guard takes for a column. Red without the check, and with
    any of its conditions left out."""
    url = postgres.create_database()
    body = "returns text language plpgsql as $$ begin return (select max(owner) from orders); end $$"
    for statement in (
        *STATEMENTS,
        "create domain some_order as orders",
        *(f'create function "{name}"{taken} {body}' for name, taken in (ROW_FUNCTIONS | OTHER_FUNCTIONS).items()),
        "drop role if exists w3_reader",
        "create role w3_reader login",
        "grant select on orders to w3_reader",
        "revoke execute on function revoked from public",
        "create extension hstore",  # has hstore(record)
    ):
        postgres.execute(statement, url=url)
    scheme, rest = url.split("://", 1)
    url = f"{scheme}://w3_reader@{rest.split('@', 1)[1]}"
    directory.add(1, url, tables=TABLES)
    with pytest.raises(InvalidSource) as caught:
        await open_sources().fetch(group(main="own_1"), "main", FORGETFUL)
    assert (
        f"without brackets: {', '.join(sorted(ROW_FUNCTIONS))} (list those that read no table under"
        in caught.value.message
    )
    listed = json.dumps({**DECLARATION, "functions": [*ROW_FUNCTIONS]})
    directory.registered[0] = replace(directory.registered[0], tables=listed)
    sources = open_sources()
    assert owned(await sources.fetch(group(main="own_1"), "main", FORGETFUL)) == ACME
    called = [f'select o."{name}" as found from orders o' for name in ROW_FUNCTIONS]
    for sql in called:
        assert {row["found"] for row in await sources.fetch(group(main="own_1"), "main", sql)} == {"globex"}
    for name in OTHER_FUNCTIONS:
        with pytest.raises(QueryFailed):
            await sources.fetch(group(main="own_1"), "main", f"select o.{name} from orders o")
