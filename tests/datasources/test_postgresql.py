"""PostgreSQL: each query alone in a read-only transaction, on a session that the query before it left no mark on."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from decimal import Decimal
from secrets import token_hex
from urllib.parse import urlsplit, urlunsplit

import pytest

from tenantry.datasources import DataSources, Limits
from tenantry.errors import (
    DataSourceError,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TemplateError,
    TooManyRows,
    UnbindableValue,
)
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

SCHEMA = """
create table orders (id integer, owner text, price numeric, day date, at timestamptz, tags text[], paid boolean);
insert into orders select n, 'acme', n + 0.5, date '2026-01-01' + n, '2026-01-01T00:00:00Z', '{a,b}', true
from generate_series(0, 2) n;
create sequence numbers;
create function written() returns integer language plpgsql as
$$ begin insert into orders (id) values (9); return 1; end $$;
"""


@pytest.fixture(scope="session")
def database(postgres) -> str:
    """The URL of a database with 3 orders, which no test can change."""
    url = postgres.create_database()
    postgres.execute(SCHEMA, url=url)
    return url


@pytest.fixture(scope="session")
def reader(postgres, database: str) -> Iterator[str]:
    """The same database for a role that may only read: what a data source should be."""
    role = f"reader_{token_hex(4)}"
    postgres.execute(f"create role {role} login password 'r'; grant select on orders to {role}", url=database)
    parts = urlsplit(database)
    yield urlunsplit(parts._replace(netloc=f"{role}:r@{parts.netloc.rpartition('@')[2]}"))
    postgres.execute(f"drop owned by {role}; drop role {role}", url=database)


@pytest.fixture
def fetch(database: str, directory: Directory, open_sources):
    """Runs SQL on one connection, as the superuser: whatever is refused, is refused to anyone."""
    directory.add(1, database)
    return _runner(open_sources(timeout=600, row_limit=10, pool_size=1, connect_timeout=120))


@pytest.fixture
def hurried(database: str, directory: Directory, open_sources):
    """The same with a timeout that a test can wait for."""
    directory.add(1, database)
    return _runner(open_sources(timeout=2, pool_size=1, connect_timeout=120))


def _runner(sources: DataSources):
    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_rows_are_dicts_of_python_values(fetch) -> None:
    """Numbers, dates, arrays and booleans come as Python has them."""
    rows = await fetch("select id, price, day, tags, paid from orders where id = {{ id }}", id=2)
    assert rows == [{"id": 2, "price": Decimal("2.5"), "day": date(2026, 1, 3), "tags": ["a", "b"], "paid": True}]


FORBIDDEN = [
    "insert into orders (id) values (9)",
    "update orders set owner = 'x'",
    "delete from orders",
    "truncate orders",
    "create table other (i int)",
    "create temp table other (i int)",
    "select 1 as i into other",
    "with x as (insert into orders (id) values (9) returning id) select id from x",
    "with x as (delete from orders returning id) select id from x",
    "explain analyze delete from orders",
    "select nextval('numbers')",
    "select setval('numbers', 9)",
    "select written()",
    "select lo_import('/etc/passwd')",
    "select lo_create(0)",
    "select id from orders for update",
    "copy orders to program 'touch /tmp/tenantry-copy'",
    "copy orders to '/tmp/tenantry-copy'",
    "copy orders from program 'echo 9'",
    "/* /* */ select */ copy orders to program 'touch /tmp/tenantry-copy'",
    "-- x\rcopy orders to program 'touch /tmp/tenantry-copy' /*\nselect */",
    "do $$ begin perform 1; end $$",
    "call written()",
    "set transaction read write",
    "set default_transaction_read_only = off",
    "set role postgres",
    "commit",
    "rollback",
    "begin",
    "listen x",
    "notify x",
    "lock table orders",
    "select set_config('transaction_read_only', 'off', true) from orders",
    "select set_config('transaction_read_only', 'off', false) as a, written() as b",
    "select 1; select 2",
    "select 1; commit; delete from orders",
    "",
    "-- nothing",
]


@pytest.mark.parametrize("sql", FORBIDDEN)
async def test_nothing_but_reading_is_run(sql: str, fetch, postgres, database: str) -> None:
    """Writes by any way, transaction control, session settings and second statements are refused, to a superuser too.

    Red (insert, update, delete in a CTE, written(), setval, …) when the transaction was not read-only and the session
    default was off; red (copy, do, set, commit, listen) when neither the first word nor the columns were looked at.
    """
    with pytest.raises(DataSourceError) as caught:
        await fetch(sql)
    assert isinstance(caught.value, NotOneStatement | QueryFailed)
    counted = postgres.execute("select count(*), max(id), (select is_called from numbers) from orders", url=database)
    assert counted.strip() == "3|2|f"


async def test_a_session_setting_does_not_reach_the_next_query(fetch) -> None:
    """A pooled connection forgets: set_config, a role, a lock and the time zone of one query are gone in the next.

    One connection serves both. Red (settings) when the transaction was committed; red (locks) when
    ``pg_advisory_unlock_all`` was left out.
    """
    await fetch("select set_config('app.tenant', 'globex', false) as a, pg_advisory_lock(7)::text as b")
    await fetch("select set_config('role', 'pg_monitor', false) as a, set_config('search_path', 'x', false) as b")
    rows = await fetch(
        "select current_setting('app.tenant', true) as tenant, current_user = session_user as same, "
        "count(*) as orders, "
        "(select count(*) from pg_locks where locktype = 'advisory') as locks from orders"
    )
    assert rows == [{"tenant": rows[0]["tenant"], "same": True, "orders": 3, "locks": 0}]
    assert not rows[0]["tenant"]


async def test_the_next_query_is_read_only_whatever_the_last_one_set(fetch) -> None:
    """Settings of the session that would open a writing transaction are wiped, and each transaction is read-only."""
    await fetch("select set_config('default_transaction_read_only', 'off', false) as a")
    with pytest.raises(NotOneStatement):
        await fetch("select written()")


async def test_every_query_runs_read_only_and_timed(fetch) -> None:
    """The server itself holds both, and reads strings as the template does; rows are written as RowReader reads them.
    Red when the transaction was not read-only or one of its settings was left out."""
    asked = {
        "transaction_read_only": "on",
        "statement_timeout": "10min",
        "standard_conforming_strings": "on",
        "datestyle": "ISO, MDY",
        "intervalstyle": "iso_8601",
        "timezone": "UTC",
        "extra_float_digits": "1",
    }
    assert await fetch("select " + ", ".join(f"current_setting('{name}') as {name}" for name in asked)) == [asked]


async def test_a_long_query_is_stopped_by_the_server(hurried) -> None:
    """The statement timeout is the server's own, and the query cannot lift it: the connection is free after it."""
    rows: list[dict[str, object]] = []
    async with asyncio.timeout(100):
        with pytest.raises(QueryTimeout):
            await hurried("select pg_sleep(600)")
        with pytest.raises(QueryTimeout):
            await hurried("select set_config('statement_timeout', '0', false) as a, pg_sleep(600) as b")
        while not rows:  # on a busy machine the timeout may be too short for any query
            with suppress(QueryTimeout):
                rows = await hurried("select id from orders")
    assert len(rows) == 3


async def test_a_cancelled_query_is_stopped(fetch, postgres, database: str) -> None:
    """When the viewer goes away, the server stops the query: the one connection serves the next viewer."""
    task = asyncio.create_task(fetch("select pg_sleep(590)"))
    running = "select count(*) from pg_stat_activity where query like 'select pg_sleep(590)%' and state = 'active'"
    await _until(postgres, database, running, "1")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(await fetch("select id from orders")) == 3
    await _until(postgres, database, running, "0")


async def test_the_row_limit_is_an_error_and_never_a_cut(fetch) -> None:
    """Exactly ``row_limit`` rows are given; one more is TooManyRows, without reading the rest."""
    assert len(await fetch("select n from generate_series(1, 10) n")) == 10
    with pytest.raises(TooManyRows):
        await fetch("select generate_series(1, 2000000000) as n")
    assert len(await fetch("select id from orders")) == 3


async def _until(postgres, database: str, query: str, answer: str) -> None:
    """Waits until the server itself answers so."""
    async with asyncio.timeout(120):
        while (await asyncio.to_thread(postgres.execute, query, url=database)).strip() != answer:
            await asyncio.sleep(0.01)


async def test_more_queries_than_connections_wait_then_fail(
    database: str, directory: Directory, open_sources, postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool is bounded: a query waits for a connection for its ``timeout``, then is SourceUnavailable."""
    directory.add(1, database)
    sources = open_sources(timeout=600, pool_size=2, group_pool_size=2, connect_timeout=120)

    async def ask(sql: str):
        return await sources.fetch(group(main="ds_1"), "main", sql, {})

    await ask("select 1 as one")
    slow = [asyncio.create_task(ask(f"select pg_sleep(58{n})")) for n in range(2)]
    running = "select count(*) from pg_stat_activity where query like 'select pg_sleep(58_)%' and state = 'active'"
    await _until(postgres, database, running, "2")
    with monkeypatch.context() as hasty:
        hasty.setattr(Limits, "wait", 0.5)
        with pytest.raises(SourceUnavailable, match="busy"):
            await ask("select 1 as one")
    for each in slow:
        each.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    counted = (
        "select count(*) as n from pg_stat_activity "
        "where application_name = 'tenantry' and datname = current_database()"
    )
    answers = await asyncio.gather(*(ask(f"{counted} and {n} = {n}") for n in range(10)))
    assert all(1 <= rows[0]["n"] <= 3 for rows in answers)  # 2 of this pool, 1 of a test before that is just closing


@pytest.mark.parametrize(
    ("sql", "value", "gives"),
    [
        ("select id from orders where id = {{ v }}", "2", [{"id": 2}]),
        ("select id from orders where day = {{ v }}", "2026-01-02", [{"id": 1}]),
        ("select id from orders where at < {{ v }} and id = 0", "2026-06-01T12:00:00+02:00", [{"id": 0}]),
        ("select id from orders where price > {{ v }}", 2, [{"id": 2}]),
        ("select id from orders where price > {{ v }}", "2.25", [{"id": 2}]),
        ("select count(*) as n from orders where paid = {{ v }}", "true", [{"n": 3}]),
        ("select id from orders where id in {{ v }}", ["1", 2], [{"id": 1}, {"id": 2}]),
        ("select id from orders where id in {{ v }}", [], []),
        ("select {{ v }}::text as t", 5, [{"t": "5"}]),
        ("select {{ v }}::text as t", True, [{"t": "true"}]),
    ],
)
async def test_values_are_read_as_the_type_of_their_place(sql: str, value: object, gives: object, fetch) -> None:
    """Viewer input is text and properties are JSON: each is read as what the column is."""
    assert await fetch(sql, v=value) == gives


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("select id from orders where id = {{ v }}", "k3y-c4n4ry"),
        ("select id from orders where day = {{ v }}", "k3y-c4n4ry"),
        ("select id from orders where id = {{ v }}", 2**40),
        ("select id from orders where id = {{ v }}", True),
        ("select id from orders where id in {{ v }}", [1, "k3y-c4n4ry"]),
        ("select id from orders where paid = {{ v }}", "k3y-c4n4ry"),
    ],
)
async def test_a_value_that_does_not_fit_is_the_viewers_error(sql: str, value: object, fetch) -> None:
    """It is UnbindableValue (422), and neither it nor its context repeats the value."""
    with pytest.raises(UnbindableValue) as caught:
        await fetch(sql, v=value)
    assert "k3y-c4n4ry" not in str(caught.value)
    assert caught.value.__context__ is None


async def test_a_bad_query_says_of_what_kind_and_where(fetch) -> None:
    """SQLSTATE, its name and the position; none of the server's words, which may quote values."""
    with pytest.raises(QueryFailed, match=r"UndefinedColumn \(SQLSTATE 42703\), at character 8 of the SQL$"):
        await fetch("select absent from orders")
    with pytest.raises(QueryFailed, match=r"InvalidTextRepresentation \(SQLSTATE 22P02\), at character 13 of the SQL$"):
        await fetch("select cast('k3y-c4n4ry' as integer) as n")


@pytest.mark.parametrize("fault", ["role", "database", "port"])
async def test_a_source_that_cannot_be_reached(fault: str, reader: str, directory: Directory, open_sources) -> None:
    """An unknown role or database, or a refused connection, is SourceUnavailable and shows no login or database."""
    parts = urlsplit(reader)
    urls = {
        "role": urlunsplit(parts._replace(netloc="absent:k3y@" + parts.netloc.rpartition("@")[2])),
        "database": urlunsplit(parts._replace(path="/absent")),
        "port": "postgresql://absent:k3y@127.0.0.1:1/absent",
    }
    directory.add(1, urls[fault])
    with pytest.raises(SourceUnavailable) as caught:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert caught.value.retry_after == 1
    assert not any(word in str(caught.value) for word in ("k3y", "absent"))


async def test_a_superuser_is_warned_about(
    database: str, reader: str, directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    """A superuser reads the server's files even in a read-only transaction: the log says so once; a reader is quiet."""
    directory.add(1, database)
    directory.add(2, reader)
    caplog.set_level(logging.WARNING)
    async with data_sources(directory, connect_timeout=120) as sources:
        assert len(await sources.fetch(group(main="ds_2"), "main", "select id from orders", {})) == 3
        assert caplog.records == []
        with pytest.raises(QueryFailed, match="42501"):
            await sources.fetch(group(main="ds_2"), "main", "select pg_read_file('/etc/passwd')", {})
        for _ in range(2):
            await sources.fetch(group(main="ds_1"), "main", "select id from orders", {})
    assert [record.getMessage()[:40] for record in caplog.records] == ["data source ds_1 connects as a superuser"]


async def test_a_broken_connection_is_replaced(fetch, postgres, database: str) -> None:
    """After the server has ended the session, the query fails or runs anew; the one after it runs."""
    await fetch("select 1 as one")
    ours = "from pg_stat_activity where application_name = 'tenantry' and datname = current_database()"
    postgres.execute(f"select pg_terminate_backend(pid) {ours}", url=database)
    await _until(postgres, database, f"select count(*) {ours}", "0")
    with suppress(SourceUnavailable):
        await fetch("select 1 as one")
    assert await fetch("select 1 as one") == [{"one": 1}]


async def test_a_server_that_does_not_answer_is_unavailable(directory: Directory, open_sources) -> None:
    """A server that takes the connection and stays silent costs ``connect_timeout``, not forever."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel takes the connection; nobody reads it
        directory.add(1, f"postgresql://u:k3y@127.0.0.1:{silent.getsockname()[1]}/db")
        with pytest.raises(SourceUnavailable, match=r"no answer from its server$"):
            await open_sources(connect_timeout=0.2).fetch(group(main="ds_1"), "main", "select 1 as one", {})


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # a loop that is closed first cannot close its sockets
def test_a_closed_event_loop_is_survived(database: str, directory: Directory) -> None:
    """A connection of a loop that is gone is let go; the next loop opens its own."""
    directory.add(1, database)
    sources = data_sources(directory, connect_timeout=120)

    async def ask():
        return await sources.fetch(group(main="ds_1"), "main", "select count(*) as n from orders", {})

    for _ in range(2):
        assert asyncio.run(ask()) == [{"n": 3}]

    async def end() -> None:
        await ask()
        await sources.aclose()

    asyncio.run(end())
    gc.collect()  # the sockets of the closed loops end here, where their warning is expected


@pytest.mark.parametrize(
    "sql",
    [
        "select word from (select cast({{ v }} as text) as q) as s, lateral ts_stat(s.q)",
        'select word from U&"\\0074s_stat"({{ v }})',
        "select word from U&\"!0074s_stat\" uescape '!' ({{ v }})",
        'select word from (select cast({{ v }} as text) as q) as s, lateral U&"ts\\005fstat"(s.q)',
        "select (s.found).word from (select (t.q).ts_stat as found from (select cast({{ v }} as text) as q) t) s",
        "select word from ts_stat/*+ a /* nested */ hint */({{ v }})",
    ],
)
async def test_a_value_never_becomes_sql(sql: str, fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL has functions that run a text as SQL, a bound value too. Red for names in Unicode escapes, after a
    dot, and before a nested hint when their calls are looked for by a pattern in the text."""
    value = "select to_tsvector(owner) from orders"
    with pytest.raises(TemplateError, match="next to"):
        await fetch(sql, v=value)
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        await fetch(sql, v=value)
    monkeypatch.setattr("tenantry.datasources.engines.postgresql.refuse_dynamic_sql", lambda *_: None)
    assert await fetch(sql, v=value) == [{"word": "acm"}], "the control: the engine runs it"


async def test_the_server_ends_strings_where_the_template_does(postgres, directory: Directory, open_sources) -> None:
    """A database whose backslash escapes in every string would see a call where the template has a text. Red when
    standard_conforming_strings was left as the database has it: the value ran."""
    url = postgres.create_database()
    postgres.execute(SCHEMA, url=url)
    postgres.execute(f"alter database {urlsplit(url).path[1:]} set standard_conforming_strings = off", url=url)
    directory.add(1, url)
    rows = await open_sources().fetch(
        group(main="ds_1"),
        "main",
        r"with t as (select {{ v }}::text as q) select '\' || ' as a, word from t, lateral ts_stat(t.q) --' as b",
        {"v": "select to_tsvector(owner) from orders"},
    )
    assert rows == [{"b": r"\ as a, word from t, lateral ts_stat(t.q) --"}]


async def test_a_text_of_the_template_may_be_run_as_sql(fetch) -> None:
    """Without values there is nothing that could become SQL."""
    assert await fetch("select word from ts_stat('select to_tsvector(owner) from orders')") == [{"word": "acm"}]


async def test_closing_stops_a_running_query(database: str, directory: Directory, postgres) -> None:
    """At shutdown nobody waits for a query, and the server does not go on with it. Red when it was waited for."""
    directory.add(1, database)
    sources = data_sources(directory, timeout=600, connect_timeout=120)
    running = asyncio.create_task(sources.fetch(group(main="ds_1"), "main", "select pg_sleep(570)", {}))
    asked = "select count(*) from pg_stat_activity where query like 'select pg_sleep(570)%' and state = 'active'"
    await _until(postgres, database, asked, "1")
    await sources.aclose()
    with pytest.raises(SourceUnavailable, match="being closed"):
        await running
    await _until(postgres, database, asked, "0")
