"""Sessions on MariaDB: what is sent for a query, and that a query leaves nothing for the next one on its connection."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

from engines.mariadb import MariaDB
from engines.sends import sends_to
from tenantry.datasources.engines import mysql_connection
from tenantry.errors import NotOneStatement, QueryFailed, TooManyRows
from tests.datasources.conftest import Directory, group

# Functions of the database's own that a source may call: the text shows nothing of what they do.
FUNCTIONS = {
    "takes_lock": "return get_lock('theirs', 0)",
    "sets_variable": "set @theirs = 42; return 1",
    "sets_number": "return last_insert_id(42)",
    "sets_session": (
        "set session tx_read_only = 0; set session max_statement_time = 0; set session time_zone = '+05:00'; "
        "set session group_concat_max_len = 7; return 1"
    ),
    "writes": "insert into orders values (9); return 1",
    "writes_after_all": "set session tx_read_only = 0; insert into orders values (9); return 1",
}


@pytest.fixture
def database(mariadb: MariaDB) -> str:
    name = mariadb.create_database()
    mariadb.execute("create table orders (id int)", database=name)
    mariadb.execute("create sequence numbers", database=name)
    for function, body in FUNCTIONS.items():
        mariadb.execute(f"create function {function}() returns int begin {body}; end", database=name)
    return name


@pytest.fixture
def fetch(mariadb: MariaDB, database: str, directory: Directory, open_sources):
    """Runs SQL as root on one connection."""
    directory.add(1, f"mysql://root@127.0.0.1:{mariadb.port}/{database}")
    sources = open_sources(timeout=60, row_limit=10, pool_size=1, connect_timeout=60)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


@pytest.mark.parametrize(
    ("left_by", "asked", "nothing"),
    [
        ("select takes_lock() as a", "is_used_lock('theirs')", None),
        ("select `takes_lock`() as a", "is_free_lock('theirs')", 1),
        ("select sets_variable() as a", "@theirs", None),
        ("select sets_number() as a", "@@last_insert_id", 0),
        ("select sets_session() as a", "@@tx_read_only", 1),
        ("select sets_session() as a", "@@max_statement_time", 60.0),
        ("select sets_session() as a", "@@time_zone", "+00:00"),
        ("select sets_session() as a", "@@group_concat_max_len > 7", 1),
    ],
)
async def test_what_a_function_does_ends_with_its_query(left_by: str, asked: str, nothing: object, fetch) -> None:
    """In any spelling, for the text does not show it. Red when the session was not reset; and when only the reset was
    sent, for the limits: a bare reset takes read-only and the timeout away."""
    connection = "select connection_id() as c"
    first = await fetch(connection)
    assert len(await fetch(left_by)) == 1
    assert await fetch(f"select {asked} as asked") == [{"asked": nothing}]
    assert await fetch(connection) == first, "it is the same connection"


@pytest.mark.parametrize(
    "sql",
    [
        "select writes() as a",
        "select writes_after_all() as a",
        "select sets_session() as a, writes() as b",
        "select nextval(numbers) as n",
        "select id from orders for update",
        "with w as (select writes() as a) select a from w",
    ],
)
async def test_nothing_writes(sql: str, fetch, mariadb: MariaDB, database: str) -> None:
    """Under autocommit, without a transaction around it, also after a query that switched read-only off.

    Red without ``set session transaction read only`` in what follows a reset.
    """
    await fetch("select sets_session() as a")
    with pytest.raises(NotOneStatement, match="the database refused it because it writes"):
        await fetch(sql)
    assert mariadb.execute("select count(*) from orders", database=database) == ((0,),)


@pytest.mark.parametrize(
    "sql",
    [
        "select `release_lock`('a') + `get_lock`('a', 1)",
        "select GET_LOCK('a', 1)",
        "select id from orders where `get_lock`\n('a', 1)",
        "select `last_insert_id`(42)",
        "select last_insert_id/**/(42)",
        "set @a = 1",
        "SET/**/session tx_read_only = 0",
        "(set @a = 1)",
        "set statement max_statement_time = 0 for select 1",
        "create temporary table t (a int)",
        "prepare s from 'select 1'",
        "deallocate prepare s",
        "lock tables orders read",
        "use mysql",
    ],
)
async def test_what_is_left_behind_by_the_text_itself_is_refused(sql: str, fetch) -> None:
    """Before anything is sent, in quotes and comments too, and the connection is the same afterwards. Red when names
    between backticks were not read, and when each refusal closed the connection."""
    connection = "select connection_id() as c"
    first = await fetch(connection)
    with pytest.raises(NotOneStatement):
        await fetch(sql)
    assert await fetch(connection) == first


async def test_a_refused_query_keeps_its_connection(fetch) -> None:
    """What the database refuses, in the middle of the rows too, leaves the connection as it was. One whose rows are
    not all read is closed. Red when each error closed the connection."""
    connection = "select connection_id() as c"
    first = await fetch(connection)
    for sql in (
        "select nothing from orders",
        "select 9223372036854775800 + cast(seq as signed) as n from seq_1_to_9",
        "selec",
    ):
        with pytest.raises((QueryFailed, NotOneStatement)):
            await fetch(sql)
        assert await fetch(connection) == first
    with pytest.raises(TooManyRows):
        await fetch("select seq from seq_1_to_100000")
    assert await fetch(connection) != first


async def test_rows_that_nobody_reads_are_thrown_away_in_silence(fetch) -> None:
    """Red when PyMySQL's result was left to the collector: it reads the other rows then, from a closed socket."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(TooManyRows):
                await fetch("select seq from seq_1_to_100000")
        gc.collect()


async def test_one_send_before_the_answer_and_two_in_all(
    mariadb: MariaDB, database: str, directory: Directory, open_sources
) -> None:
    """Counted by a proxy. Red as it was: a ping, the start of a transaction, the query and the rollback."""
    async with sends_to(f"mysql://root@127.0.0.1:{mariadb.port}/{database}?ssl_mode=disabled") as (sends, url):
        directory.add(1, url)
        sources = open_sources(pool_size=1)
        query = "select 42 as answer"
        for _ in range(2):
            sends.log.clear()
            assert await sources.fetch(group(main="ds_1"), "main", query, {}) == [{"answer": 42}]
            async with asyncio.timeout(60):  # nobody waits for the answer to the wipe
                while sends.log[-1] is not None or b"transaction read only" not in (sends.log[-2] or b""):
                    await asyncio.sleep(0.01)
        sent = [each for each in sends.log if each is not None]
        assert len(sent) == 2
        assert sends.log == [sent[0], None, sent[1], None]
        assert query.encode() in sent[0]
        assert sent[1][4] == mysql_connection._RESET_CONNECTION
        assert b"transaction read only" in sent[1]
        assert b"max_statement_time" in sent[1]


async def test_an_idle_connection_that_the_server_killed_is_replaced(fetch, mariadb: MariaDB) -> None:
    """The viewer sees rows. Red when the error of the old connection was the answer."""
    first = (await fetch("select connection_id() as c"))[0]["c"]
    mariadb.execute(f"kill connection {first}")
    assert (await fetch("select connection_id() as c"))[0]["c"] != first
