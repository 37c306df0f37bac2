"""SQLite reads one file and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from tenantry.datasources import DataSources, Limits
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.errors import (
    DataSourceError,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
)
from tests.datasources.conftest import Directory, group, sqlite_file

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


@pytest.fixture
def fetch(directory: Directory, open_sources, tmp_path: Path):
    """Runs SQL on a file with 3 orders, with few rows, and time enough on a busy machine."""
    return _runner(directory, tmp_path, open_sources(timeout=120, row_limit=10, pool_size=2, connect_timeout=120))


@pytest.fixture
def hasty(directory: Directory, open_sources, tmp_path: Path):
    """The same, and a query is stopped after 2 s."""
    return _runner(directory, tmp_path, open_sources(timeout=2, row_limit=10, pool_size=2, connect_timeout=120))


def _runner(directory: Directory, tmp_path: Path, sources: DataSources):
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_rows_are_dicts_of_python_values(fetch) -> None:
    """Columns keep their order; a value is what SQLite holds, bytes included."""
    rows = await fetch(
        "select id, owner, x'00ff' as raw, null as gone, 0.5 as half from orders where id = {{ id }}", id=2
    )
    assert rows == [{"id": 2, "owner": "acme", "raw": b"\x00\xff", "gone": None, "half": 0.5}]
    assert list(rows[0]) == ["id", "owner", "raw", "gone", "half"]


AT = datetime(2026, 1, 31, 12, 0, 0, 500_000)  # noqa: DTZ001  # SQLite has none either
BOUND = [
    (Decimal("1.50"), 1.5, "real"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007", "text"),
    (time(9, 30), "09:30:00", "text"),
    (timedelta(days=1, hours=2), 93_600, "integer"),
    (timedelta(seconds=1.5), 1.5, "real"),
    (date(2026, 1, 31), "2026-01-31", "text"),
    (AT, "2026-01-31 12:00:00.500000", "text"),
    (AT.replace(tzinfo=timezone(timedelta(hours=5))), "2026-01-31 07:00:00.500000", "text"),
    (b"\x00", b"\x00", "blob"),
    (True, 1, "integer"),
    (None, None, "null"),
]


@pytest.mark.parametrize(("value", "bound", "kind"), BOUND, ids=lambda each: type(each).__name__)
async def test_every_type_that_a_template_binds(value: object, bound: object, kind: str, fetch) -> None:
    """What docs/engine-sqlite.md says of each. Red when the driver was given them as they are: Decimal, UUID, time and
    timedelta were 502, a datetime with an offset a text that no column compares with."""
    sql = "select {{ params.x | nullable }} as value, typeof({{ params.x | nullable }}) as kind"
    assert await fetch(sql, params={"x": value}) == [{"value": bound, "kind": kind}]


WRITES = [
    "insert into orders values (9, 'x', 'x')",
    "update orders set owner = 'x'",
    "delete from orders",
    "drop table orders",
    "create table other (i)",
    "create temp table other (i)",
    "with x as (select 1) insert into orders select 9, 'x', 'x' from x",
    "attach '{folder}/other.db' as other",
    "detach main",
    "vacuum",
    "vacuum into '{folder}/copy.db'",
    "pragma query_only = off",
    "pragma journal_mode = delete",
    "pragma writable_schema = on",
    "pragma table_info(orders)",
    "select * from pragma_table_info('orders')",
    "update sqlite_master set sql = 'x'",
    "begin immediate",
    "savepoint x",
    "commit",
    "reindex",
    "analyze",
    "select load_extension('{folder}/x.so')",
    "select fts3_tokenizer('simple')",
    "select writefile('{folder}/x', 'y')",
    "select readfile('/etc/passwd')",
    "select 1; select 2",
    "select 1; delete from orders",
    "",
    "-- nothing",
]


@pytest.mark.parametrize("sql", WRITES)
async def test_nothing_but_reading_is_run(sql: str, fetch, tmp_path: Path) -> None:
    """Writes, other files, settings, transactions and second statements are refused, and no file appears or changes.

    Red (pragma journal_mode, pragma table_info, fts3_tokenizer) when the authorizer was not set; red (the file is
    changed) when moreover the file was opened with mode=rw and without query_only.
    """
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DataSourceError) as caught:
        await fetch(sql.replace("{folder}", str(tmp_path)))
    assert isinstance(caught.value, NotOneStatement | QueryFailed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert len(await fetch("select * from orders")) == 3


async def test_full_text_and_json_tables_can_be_read(directory: Directory, open_sources, tmp_path: Path) -> None:
    """The authorizer lets FTS5 and table-valued functions work, which ask for more than plain reads."""
    connection = sqlite3.connect(tmp_path / "fts.db")
    connection.execute("create virtual table notes using fts5(body)")
    connection.execute("insert into notes values ('late flight')")
    connection.commit()
    connection.close()
    directory.add(1, f"sqlite:///{tmp_path}/fts.db")
    sources = open_sources()
    found = await sources.fetch(group(main="ds_1"), "main", "select body from notes where notes match 'late'", {})
    assert found == [{"body": "late flight"}]
    listed = await sources.fetch(group(main="ds_1"), "main", "select value from json_each('[1,2]')", {})
    assert listed == [{"value": 1}, {"value": 2}]


async def test_a_file_in_wal_mode_is_read_while_it_is_written(
    directory: Directory, open_sources, tmp_path: Path
) -> None:
    """A source whose writer is at work shows what was committed."""
    writer = sqlite3.connect(tmp_path / "wal.db")
    writer.execute("pragma journal_mode = wal")
    writer.execute("create table t (i)")
    writer.execute("insert into t values (1)")
    writer.commit()
    writer.execute("insert into t values (2)")
    directory.add(1, f"sqlite:///{tmp_path}/wal.db")
    rows = await open_sources().fetch(group(main="ds_1"), "main", "select i from t", {})
    writer.close()
    assert rows == [{"i": 1}]


async def test_an_endless_query_is_stopped(hasty) -> None:
    """After the timeout the thread really ends: as many endless queries as connections, and the next one runs.

    Never ends when ``interrupt`` does nothing.
    """
    outcomes = await asyncio.gather(hasty(ENDLESS), hasty(f"{ENDLESS} -- 2"), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [QueryTimeout, QueryTimeout]
    assert len(await hasty("select * from orders")) == 3


async def test_more_queries_than_connections_wait_then_fail(
    directory: Directory, open_sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query waits for a free connection, for ``timeout``; then it is SourceUnavailable with Retry-After."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sources = open_sources(timeout=120, pool_size=1)

    async def take() -> None:
        while True:  # on a busy machine it may be the one that waits too long
            with suppress(SourceUnavailable):
                await sources.fetch(group(main="ds_1"), "main", ENDLESS, {})

    async def ask_on() -> None:
        while True:  # until the endless one has the connection
            await sources.fetch(group(main="ds_1"), "main", "select 1 as one", {})

    busy = asyncio.create_task(take())
    with monkeypatch.context() as hasty:
        hasty.setattr(Limits, "wait", 0.5)
        with pytest.raises(SourceUnavailable, match="busy") as caught:
            await ask_on()
    assert caught.value.retry_after == 1
    busy.cancel()
    await asyncio.gather(busy, return_exceptions=True)
    patient = open_sources(timeout=120, pool_size=1, connect_timeout=120)
    waited = await asyncio.gather(
        *(patient.fetch(group(main="ds_1"), "main", f"select {n} as n", {}) for n in range(5))
    )
    assert waited == [[{"n": n}] for n in range(5)]


async def test_two_columns_of_one_name_are_refused(fetch) -> None:
    """A row is a dict: the second column would silently replace the first."""
    with pytest.raises(QueryFailed, match="columns 1 and 2 have the same name"):
        await fetch("select 1 as a, 2 as a")


async def test_a_missing_file_is_an_error_and_stays_missing(directory: Directory, open_sources, tmp_path: Path) -> None:
    """Neither the error nor a second try creates the file. Red when it was opened without mode=ro and is_file()."""
    directory.add(1, f"sqlite:///{tmp_path}/none.db")
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match="does not exist"):
            await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_no_database_is_unavailable(directory: Directory, open_sources, tmp_path: Path) -> None:
    """A file of something else is SourceUnavailable and names SQLite's code."""
    (tmp_path / "junk.db").write_text("junk" * 2000)
    directory.add(1, f"sqlite:///{tmp_path}/junk.db")
    with pytest.raises(SourceUnavailable, match="SQLITE_NOTADB"):
        await open_sources().fetch(group(main="ds_1"), "main", "select * from sqlite_master", {})


async def test_a_bad_query_says_of_what_kind(fetch) -> None:
    """The kind of error is told, and none of the words that follow it: full-text search says "no such column" of a
    value, too."""
    with pytest.raises(QueryFailed, match=r"SQLITE_ERROR \(no such column\)$") as caught:
        await fetch("select o.absent from orders o")
    assert caught.value.word == "absent"
    with pytest.raises(QueryFailed, match=r"SQLITE_ERROR \(syntax error\)$"):
        await fetch("select from where")
    with pytest.raises(QueryFailed, match=r"SQLITE_ERROR$"):
        await fetch("select json_extract({{ v }}, '$')", v="c4n4ry")


async def test_a_value_cannot_grow_without_bound(fetch) -> None:
    """One value is at most 64 MiB, whatever a function is asked for."""
    with pytest.raises(QueryFailed, match="SQLITE_TOOBIG"):
        await fetch("select length(zeroblob(900000000)) as n")


def test_attach_has_a_second_defence(tmp_path: Path, directory: Directory) -> None:
    """The authorizer refuses it, and the connection may attach no file. Red with a limit of one."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    (source,) = directory.registered
    driver = SQLiteDriver(source, Limits())
    connection = driver.open()
    connection.set_authorizer(None)
    with pytest.raises(sqlite3.OperationalError, match="too many attached databases - max 0"):
        connection.execute(f"attach '{tmp_path / 'other.db'}' as other")
    driver.close(connection)
