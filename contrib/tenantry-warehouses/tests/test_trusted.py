"""A trusted dialect runs through SQLAlchemy, with the fences that need no help of the engine."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.base import SQLiteExecutionContext
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from tenantry.datasources import check_url, registration_notes
from tenantry.errors import InvalidSource, NotOneStatement, QueryFailed, TemplateError, TooManyBytes, TooManyRows
from tenantry_warehouses.trusted import is_plain
from tests.directory import Directory, group


def acme_file(path: Path, rows: int = 3) -> str:
    connection = sqlite3.connect(path)
    connection.execute("create table orders (id integer, owner text, region text)")
    connection.executemany("insert into orders values (?, 'acme', 'eu')", [(number,) for number in range(rows)])
    connection.commit()
    connection.close()
    return f"acme:///{path}"


class AcmeDialect(SQLiteDialect_pysqlite):
    """A dialect that Tenantry knows nothing of; a real engine runs beneath it."""

    name = "acme"
    supports_statement_cache = True

    def connect(self, *arguments: Any, **options: Any) -> Any:
        connection = super().connect(*arguments, **options)
        connection.isolation_level = None  # Python's sqlite3 begins no transaction before WITH; do_begin does
        return connection

    def do_begin(self, dbapi_connection: Any) -> None:
        dbapi_connection.execute("begin")


@pytest.fixture(autouse=True)
def acme() -> Iterator[None]:
    registry.register("acme", __name__, "AcmeDialect")
    yield
    registry.impls.pop("acme", None)


@pytest.fixture
def fetch(directory: Directory, open_sources, tmp_path: Path):
    """Runs SQL on a writable file through the trusted dialect."""
    directory.add(1, acme_file(tmp_path / "a.db"), trusted=True)
    sources = open_sources(timeout=60, row_limit=10, connect_timeout=60)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_without_trust_it_is_refused(directory: Directory, open_sources, tmp_path: Path) -> None:
    """A row stored as untrusted never runs."""
    directory.add(1, acme_file(tmp_path / "a.db"))
    with pytest.raises(InvalidSource, match="--trusted"):
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})


async def test_rows_and_bound_values(fetch) -> None:
    """The driver's own paramstyle is used; a hostile value is a value."""
    assert await fetch("select id from orders where id = {{ id }}", id=2) == [{"id": 2}]
    assert await fetch("select id from orders where owner = {{ x }}", x="' or 1=1 --") == []
    assert await fetch("select '100%' as share") == [{"share": "100%"}]


async def test_a_connection_that_the_server_closed_is_replaced(fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the dialect calls a disconnect is no failure of the query. Red when it was answered as QueryFailed."""
    await fetch("select 1 as one")
    failures = iter([True])

    def gone(self: Any, cursor: Any, *_: Any) -> None:
        if next(failures, False):
            raise sqlite3.OperationalError("server has gone away")
        cursor.execute("select 1 as one")

    monkeypatch.setattr(AcmeDialect, "do_execute_no_params", gone)
    monkeypatch.setattr(AcmeDialect, "is_disconnect", lambda self, error, *_: "gone away" in str(error))
    assert await fetch("select 1 as one") == [{"one": 1}]


@pytest.mark.parametrize(
    "sql",
    ["insert into orders values (9, 'x', 'x')", "pragma table_info(orders)", "attach 'x' as y", "", "commit"],
)
async def test_only_reading_statements_are_sent(sql: str, fetch) -> None:
    """The first word must be one that reads."""
    with pytest.raises(NotOneStatement):
        await fetch(sql)


async def test_what_it_writes_is_rolled_back(fetch, tmp_path: Path) -> None:
    """Where the engine allows a write behind a reading word, the transaction is rolled back. Red when it committed."""
    with pytest.raises(NotOneStatement):
        await fetch("with x as (select 1) insert into orders select 9, 'x', 'x' from x")
    connection = sqlite3.connect(tmp_path / "a.db")
    assert connection.execute("select count(*) from orders").fetchone() == (3,)
    connection.close()


@pytest.mark.parametrize("sql", ["select 1; select 2", r"select '\d' as a", "select [a] from orders", "select 1 # x"])
async def test_text_that_reads_in_two_ways_is_refused(sql: str, fetch) -> None:
    """The lexical rules of the engine are not known: only what all engines agree on is sent."""
    with pytest.raises((NotOneStatement, QueryFailed, TemplateError)) as caught:
        await fetch(sql)
    problems = "different ways|several statements"
    assert isinstance(caught.value, TemplateError) or re.search(problems, caught.value.message)


async def test_lists_are_spelled_in_plain_sql(fetch) -> None:
    """A list is one placeholder an item; an empty one gives no rows."""
    assert await fetch("select id from orders where id in {{ ids }}", ids=[0, 2]) == [{"id": 0}, {"id": 2}]
    assert await fetch("select id from orders where id in {{ ids }}", ids=[]) == []


async def test_limits_and_errors(fetch) -> None:
    """The row limit holds, and an engine's message stays behind."""
    many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 11) select i from n"
    with pytest.raises(TooManyRows):
        await fetch(many)
    with pytest.raises(QueryFailed, match=r"OperationalError$"):
        await fetch("select absent from orders")
    with pytest.raises(QueryFailed, match="same name"):
        await fetch("select 1 as a, 2 as a")


@pytest.mark.parametrize(
    "sql", ["select * from ts_stat({{ v }})", "select query({{ v }})", "select * from identifier({{ v }})"]
)
async def test_a_value_never_becomes_sql(sql: str, fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is not known, so the functions of every engine are refused beside values. Red when the trusted source
    did not look for them, and when it had the list of one dialect."""
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        await fetch(sql, v="select 1")


async def test_no_row_is_read_ahead(directory: Directory, open_sources, tmp_path: Path, monkeypatch) -> None:
    """The second row is beyond the limit, and Python's sqlite3 makes one more than it gives. Red when SQLAlchemy reads
    ahead, as it does where a dialect has cursors of the server: five rows, then twenty."""
    made: list[int] = []

    def connect(self: AcmeDialect, *arguments: Any, **options: Any) -> Any:
        connection = SQLiteDialect_pysqlite.connect(self, *arguments, **options)
        connection.create_function("large", 1, lambda number: made.append(number) or "x" * 6_000_000)
        return connection

    context = SQLiteExecutionContext
    monkeypatch.setattr(context, "create_server_side_cursor", context.create_default_cursor, raising=False)
    monkeypatch.setattr(AcmeDialect, "supports_server_side_cursors", True)
    monkeypatch.setattr(AcmeDialect, "connect", connect)
    directory.add(1, acme_file(tmp_path / "a.db", rows=40), trusted=True)
    with pytest.raises(TooManyBytes):
        await open_sources(max_bytes=10_000_000).fetch(group(main="ds_1"), "main", "select large(id) as t from orders")
    assert len(made) == 3


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("select a.b, 'it''s; fine', \"Name\" from t where x = ? and y in (?, ?) -- note\n limit 1", True),
        ("select 1 - 2 / 3 /* note */;", True),
        ("select %(a)s, :b, @c", True),
        ("select ''", True),
        (r"select 'it\'s'", False),
        ("select `a`", False),
        ("select [o'brien]", False),
        ("select $$a$$", False),
        ("select q'[it's]'", False),
        ("select E'a'", False),
        ("select U&'!0041' uescape '!'", False),
        ("select * from u&\"!0074s_stat\" uescape '!' (?)", False),
        ("select 1 # note", False),
        ("select '''a'''", False),
        ('select """a"""', False),
        ("select 1 --note\n", False),
        ("select 1 /*+ hint */", False),
        ("select 1 /* a /* b */", False),
        ("select 'open", False),
        ("select 1; select 2", False),
    ],
)
def test_plain_text(sql: str, plain: bool) -> None:
    """A string is plain when every SQL engine reads it as the same words."""
    assert is_plain(sql) is plain


def test_a_trusted_dialect_says_that_nothing_holds_it() -> None:
    """Neither read-only nor stopped. Red when ``registration_notes`` looked at built-in engines only."""
    read_only, stop = registration_notes("mssql+pymssql://u:secret@h/db", trusted=True)
    assert "only the rights of the database user keep mssql read-only" in read_only
    assert "cannot be stopped" in stop
    assert "secret" not in read_only + stop


def test_a_trusted_url_needs_its_dialect() -> None:
    """``trusted`` opens a dialect of SQLAlchemy; one that is not installed, or is asynchronous, is refused by name."""
    assert check_url("mssql+pyodbc://u:p@h/db", trusted=True) == "mssql"
    with pytest.raises(InvalidSource, match="the SQLAlchemy dialect 'nowhere' is not installed"):
        check_url("nowhere://u:p@h/db", trusted=True)
    with pytest.raises(InvalidSource, match="asynchronous"):
        check_url("oracle+oracledb_async://u:p@h/db", trusted=True)
