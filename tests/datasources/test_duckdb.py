"""DuckDB reads one file and nothing else of the machine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from engines.samples import sampled
from tenantry.datasources import DataSources
from tenantry.datasources.engines.duckdb import DuckDBDriver, _refusal
from tenantry.datasources.pool.query_limits import Limits
from tenantry.errors import (
    DataSourceError,
    NotOneStatement,
    QueryFailed,
    SourceUnavailable,
    TemplateError,
)
from tests.datasources.conftest import Directory, duckdb_file, group


@pytest.fixture
def fetch(directory: Directory, open_sources, tmp_path: Path):
    """Runs SQL on a file with 3 orders, with few rows, and time enough on a busy machine."""
    return _runner(directory, tmp_path, open_sources(timeout=120, row_limit=10, pool_size=2, connect_timeout=120))


def _runner(directory: Directory, tmp_path: Path, sources: DataSources):
    directory.add(1, duckdb_file(tmp_path / "a.duckdb", "acme"))

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_rows_are_dicts_of_python_values(fetch) -> None:
    """Dates, decimals and lists come as Python has them."""
    rows = await fetch(
        "select id, date '2026-01-31' as day, 1.50::decimal(5, 2) as price, [1, 2] as list from orders "
        "where id = {{ id }}",
        id=2,
    )
    assert [str(value) for value in rows[0].values()] == ["2", "2026-01-31", "1.50", "[1, 2]"]


FORBIDDEN = [
    "select * from read_csv('{secret}')",
    "select content from read_text('{secret}')",
    "select size from read_blob('{secret}')",
    "select * from '{secret}'",
    "select * from '/etc/passwd'",
    "select * from glob('{folder}/*')",
    "select * from sniff_csv('{secret}')",
    "select * from read_duckdb('{other}')",
    "select * from query('select * from read_csv(''{secret}'')')",
    "copy orders to '{folder}/copy.csv'",
    "copy (select 1) to '{folder}/copy.csv'",
    "copy orders from '{secret}'",
    "export database '{folder}/export'",
    "attach '{other}' as other",
    "install httpfs",
    "load httpfs",
    "load '{folder}/x.duckdb_extension'",
    "insert into orders values (9, 'x', 'x')",
    "with x as (insert into orders values (9, 'x', 'x') returning id) select * from x",
    "create table other (i int)",
    "create temp table other (i int)",
    "create secret (type s3)",
    "create macro f() as 1",
    "drop table orders",
    "select nextval('numbers')",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "reset enable_external_access",
    "set variable x = 1",
    "set memory_limit = '1TB'",
    "pragma database_list",
    "call enable_logging()",
    "checkpoint",
    "use memory",
    "begin",
    "prepare p as select 1",
    "execute p",
    "explain analyze insert into orders values (9, 'x', 'x')",
    "select 1; select 2",
    "select 1; drop table orders",
    "select getenv('HOME')",
    "",
    "-- nothing",
]


@sampled(11)
@pytest.mark.parametrize("sql", FORBIDDEN)
async def test_nothing_but_reading_the_file_is_run(sql: str, fetch, tmp_path: Path) -> None:
    """Other files, extensions, settings, writes and second statements are refused; no file appears or changes.

    Red (read_csv, read_text, read_blob, glob, sniff_csv, read_duckdb, query) when ``enable_external_access`` stayed on;
    red (set variable, pragma, begin, prepare, two statements, temp table) when the statement type was not looked at.
    """
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    duckdb_file(tmp_path / "other.duckdb", "globex")
    names = {"{secret}": "secret.csv", "{other}": "other.duckdb", "{folder}": ""}
    for name, file in names.items():
        sql = sql.replace(name, str(tmp_path / file))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DataSourceError) as caught:
        await fetch(sql)
    assert isinstance(caught.value, NotOneStatement | QueryFailed)
    assert str(tmp_path) not in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert len(await fetch("select * from orders")) == 3


async def test_a_select_that_writes_is_told_so(fetch) -> None:
    """DuckDB finds the write only when it runs the query. Red when the caller read `InvalidInputException` instead."""
    with pytest.raises(NotOneStatement, match="the database refused it because it writes"):
        await fetch("select nextval('numbers')")


@pytest.mark.parametrize(
    "sql",
    [
        "from orders",
        "values (1)",
        "with x as (select 1 as i) select * from x",
        "describe orders",
        "summarize orders",
        "explain select * from orders",
        "pivot orders on region in ('eu') using count(*)",
        "select 1 as one;",
    ],
)
async def test_every_way_of_reading_is_run(sql: str, fetch) -> None:
    """DuckDB's own parser says what reads; its friendly spellings are among them."""
    assert await fetch(sql)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("select * from query({{ v }})", "select owner from orders"),
        ('select * from system.main."Query" /* note */ ({{ v }})', "select owner from orders"),
        ("select * from query('select owner from ' || {{ v }})", "orders"),
        ("select * from query_table({{ v }})", "orders"),
        ("select * from json_execute_serialized_sql(json_serialize_sql({{ v }}))", "select owner from orders"),
        ("select * from `query`({{ v }})", "select owner from orders"),
        ("select * from query\u200b({{ v }})", "select owner from orders"),
        ("select * from query/*+ a /* nested */ hint */({{ v }})", "select owner from orders"),
    ],
)
async def test_a_value_never_becomes_sql(sql: str, value: str, fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB has functions that run a text as SQL, a bound value too. Red when they were not looked for: the template
    refuses them, and the data source whatever template it came from."""
    with pytest.raises(TemplateError, match="runs a string as SQL"):
        await fetch(sql, v=value)
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        await fetch(sql, v=value)
    monkeypatch.setattr("tenantry.datasources.engines.duckdb.refuse_dynamic_sql", lambda *_: None)
    assert await fetch(sql, v=value), "the control: the engine runs it"


async def test_a_text_of_the_template_may_be_run_as_sql(fetch) -> None:
    """Without values there is nothing that could become SQL; and the words alone are no call."""
    assert len(await fetch("select * from query('select owner from orders')")) == 3
    told = await fetch("-- the main query (monthly)\nselect 'query(1)' as query where {{ v }} = 1", v=1)
    assert told == [{"query": "query(1)"}]


async def test_two_sources_share_a_file(directory: Directory, open_sources, tmp_path: Path) -> None:
    """One process has one instance of a file: two registrations of it, and two DataSources, are no conflict."""
    url = duckdb_file(tmp_path / "a.duckdb", "acme")
    directory.add(1, url)
    directory.add(2, url)
    for sources in (open_sources(timeout=50), open_sources(timeout=90)):
        for reference in ("ds_1", "ds_2"):
            assert len(await sources.fetch(group(main=reference), "main", "from orders", {})) == 3


async def test_a_file_that_this_process_writes_is_unavailable(
    directory: Directory, open_sources, tmp_path: Path
) -> None:
    """DuckDB holds one configuration a file and process; the error says so instead of running without the locks."""
    directory.add(1, duckdb_file(tmp_path / "a.duckdb", "acme"))
    writer = duckdb.connect(str(tmp_path / "a.duckdb"))
    with pytest.raises(SourceUnavailable, match="already has the file open"):
        await open_sources().fetch(group(main="ds_1"), "main", "from orders", {})
    writer.close()


@pytest.mark.parametrize("content", [None, "junk" * 5000], ids=["missing", "no database"])
async def test_a_file_that_is_none_is_unavailable(
    content: str | None, directory: Directory, open_sources, tmp_path: Path
) -> None:
    """A missing file is never created."""
    if content is not None:
        (tmp_path / "x.duckdb").write_text(content)
    before = list(tmp_path.iterdir())
    directory.add(1, f"duckdb:///{tmp_path}/x.duckdb")
    with pytest.raises(SourceUnavailable):
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert list(tmp_path.iterdir()) == before


def test_the_missing_time_zone_package_is_named() -> None:
    """DuckDB gives a timestamp with time zone to Python only through pytz; the error says so."""
    driver = DuckDBDriver(Directory().add(1, "duckdb:////none"), Limits())
    error = duckdb.InvalidInputException("Required module 'pytz' failed to import")
    assert "pip install pytz" in str(driver.failure(error))


@pytest.mark.parametrize(
    ("sql", "kind", "word"),
    [
        ("select absent from orders", "BinderException", "absent"),
        ("select o.absent from orders o", "BinderException", "absent"),
        ("select * from absent", "CatalogException", "absent"),
        ("select absent(1)", "CatalogException", "absent"),
        ("select owner frm orders", "ParserException", "orders"),
        ("select cast('c4n4ry' as integer)", "ConversionException", ""),
    ],
)
async def test_a_refused_query_names_its_word(sql: str, kind: str, word: str, fetch) -> None:
    """But not in its message, because DuckDB names values, too: ``make_type($1)``. Red when the message has it."""
    with pytest.raises(QueryFailed, match=f"refused the query: {kind}$") as caught:
        await fetch(sql)
    assert caught.value.word == word


@pytest.mark.parametrize("sql", ["pragma database_list", "/* a */ call pragma_version()"])
def test_a_statement_that_duckdb_rewrites_is_no_select(sql: str) -> None:
    """DuckDB 1.x says SELECT of these. Red when only the kind is looked at."""
    statement: Any = SimpleNamespace(type=SimpleNamespace(name="SELECT"))
    assert _refusal(duckdb.connect(), "select 1", [statement]) is None
    assert _refusal(duckdb.connect(), sql, [statement]) is not None
