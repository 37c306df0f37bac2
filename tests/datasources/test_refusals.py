"""Why a query is not run: on each real engine its own sentence, with what to write instead; and what reads, runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import InvalidParameter, NotOneStatement, TenantryError
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file

Run: TypeAlias = Callable[..., Awaitable[list[dict[str, Any]]]]
TABLE = "create table orders (id integer, owner text, region text)"
ROWS = "insert into orders values (0, 'acme', 'eu'), (1, 'acme', 'eu'), (2, 'acme', 'eu')"


@pytest.fixture(scope="module")
def servers(postgres: Postgres, mariadb: MariaDB) -> dict[str, str]:
    """A URL for each server, with 3 orders."""
    url = postgres.create_database()
    postgres.execute(f"{TABLE}; {ROWS}; create sequence numbers", url=url)
    database = mariadb.create_database()
    mariadb.execute(TABLE, database=database)
    mariadb.execute(ROWS, database=database)
    return {"postgresql": url, "mysql": f"mysql://root@127.0.0.1:{mariadb.port}/{database}"}


@pytest.fixture
def run(servers: dict[str, str], directory: Directory, open_sources: Any, tmp_path: Path) -> Run:
    """``run(engine, sql, **variables)`` on a source of that engine."""
    made = {"sqlite": sqlite_file, "duckdb": duckdb_file}
    sources = open_sources(connect_timeout=120)

    async def on(engine: str, sql: SQLTemplate | str, **variables: object) -> list[dict[str, Any]]:
        if not directory.registered:
            url = servers.get(engine) or made[engine](tmp_path / engine, "acme")
            directory.add(1, url)
        rows: list[dict[str, Any]] = await sources.fetch(group(main="ds_1"), "main", sql, variables)
        return rows

    return on


SERVERS = ("postgresql", "mysql")
FILES = ("sqlite", "duckdb")
EVERY = (*SERVERS, *FILES)


@pytest.mark.parametrize(
    ("engines", "sql", "reason"),
    [
        (EVERY, "insert into orders values (1, 'a', 'b')", "begins with `insert`, which writes"),
        (EVERY, "UPDATE orders set id = 1", "begins with `update`, which writes"),
        (EVERY, "/* x */ delete from orders", "begins with `delete`, which writes"),
        (EVERY, "create table t (i integer)", "begins with `create`, which changes the database"),
        (EVERY, "drop table orders", "begins with `drop`, which changes the database"),
        (EVERY, "begin", "begins with `begin`, and each query runs in its own transaction"),
        (EVERY, "commit", "begins with `commit`, and each query runs in its own transaction"),
        (SERVERS, "set time_zone = '+00:00'", "begins with `set`, which changes the session"),
        (("duckdb",), "set threads = 1", "begins with `set`, which changes the session"),
        (("duckdb",), "use main", "begins with `use`, which changes the session"),
        (("postgresql",), "reset all", "begins with `reset`, which changes the session"),
        (("postgresql",), "discard all", "begins with `discard`, which changes the session"),
        (FILES, "pragma table_info('orders')", "begins with `pragma`, which reads or changes settings: select from"),
        (SERVERS, "call nothing()", "begins with `call`, which runs a procedure"),
        (("postgresql",), "do $$ begin end $$", "begins with `do`, which runs a procedure"),
        (("duckdb",), "prepare p as select 1", "begins with `prepare`, which runs a procedure or a stored statement"),
        (("postgresql",), "copy orders to program 'true'", "begins with `copy`, which reads or writes files"),
        (("duckdb",), "copy orders to 'x.csv'", "begins with `copy`, which reads or writes files"),
        (("mysql",), "load data infile 'x' into table orders", "begins with `load`, which reads or writes files"),
        (("sqlite",), "attach 'x.db' as x", "begins with `attach`, which reads or writes files"),
        (("postgresql",), "listen x", "begins with `listen`, which affects only later statements of a session"),
        (
            ("postgresql", "sqlite"),
            "describe orders",
            r"which this engine does not have: select from information_schema",
        ),
        (EVERY, "select 1 as a; select 2 as a", "it is several statements: run each in its own query"),
        (EVERY, "", "it contains no statement"),
        (EVERY, " ; -- nothing\n", "it contains no statement"),
        (("postgresql", "mysql"), "frobnicate orders", "it begins with `frobnicate`: a query begins with"),
        (
            ("sqlite",),
            "table orders",
            "`table`: a query begins with one of `explain`, `select`, `values`, `with`",
        ),
        (("mysql",), "select @n := 1", "it assigns a user variable .*: use a window function"),
        (("mysql",), "select get_lock('a', 0)", r"get_lock\(\) takes a lock that the session keeps"),
        (("mysql",), "select `get_lock`('a', 0)", r"get_lock\(\) takes a lock that the session keeps"),
        (("mysql",), "select last_insert_id(7)", r"last_insert_id\(\) sets a number that the session keeps"),
        (("mysql",), "select id from orders into outfile '/tmp/x'", "`into` writes to a file or a variable"),
        (("mysql",), "select id from orders for update", "refused it because it writes"),
        (
            ("postgresql",),
            "with x as (delete from orders returning id) select id from x",
            "refused it because it writes",
        ),
        (("postgresql",), "select nextval('numbers')", r"refused it because it writes \(`for update`, sequences and"),
        (("postgresql",), "select id from orders for update", "refused it because it writes.*`for update`"),
        (("postgresql",), "select", "it returns no columns"),
        (("sqlite",), "with x as (select 1) delete from orders", "it writes, or calls a function that"),
        (("sqlite",), "select load_extension('x')", "it writes, or calls a function that .* loads a library"),
        (("duckdb",), "with x as (select 1 as i) delete from orders", "a DELETE statement, which does more than read"),
        (("duckdb",), "explain analyze delete from orders", "begins with `delete`, which writes"),
        (
            ("duckdb",),
            "create temp table x as pivot orders on owner using count(*)",
            "begins with `create`, which changes",
        ),
        (
            ("duckdb",),
            "insert into orders from (pivot orders on owner using count(*))",
            "begins with `insert`, which wri",
        ),
        (
            ("duckdb",),
            "with p as (pivot orders on owner using count(*)) insert into orders select 1, 'a', 'b'",
            "refused it because it writes",
        ),
    ],
)
async def test_each_refusal_has_its_own_reason(
    engines: tuple[str, ...], sql: str, reason: str, run: Run, directory
) -> None:
    """The sentence names what is wrong with this query. Red for each of them when all were "exactly one statement, that
    reads"."""
    for engine in engines:
        directory.registered.clear()
        with pytest.raises(NotOneStatement, match=f"^data source ds_1 does not run this query: .*{reason}") as caught:
            await run(engine, sql)
        assert caught.value.status == 422


@pytest.mark.parametrize(
    ("engine", "sql", "values", "count"),
    [
        ("postgresql", "table orders", {}, 3),
        ("postgresql", "values (1, 'a'), ({{ n }}, 'b')", {"n": 2}, 2),
        ("postgresql", "show server_version", {}, 1),
        ("postgresql", "explain select id from orders", {}, 1),
        ("postgresql", "((select id from orders))", {}, 3),
        ("mysql", "describe orders", {}, 3),
        ("mysql", "desc orders owner", {}, 1),
        ("mysql", "show tables", {}, 1),
        ("mysql", "values (1, 'a'), (2, 'b')", {}, 2),
        ("mysql", "explain select id from orders", {}, 1),
        ("mysql", "select row_number() over (order by id) as n from orders", {}, 3),
        ("sqlite", "values (1, 'a'), (2, 'b')", {}, 2),
        ("sqlite", "explain query plan select id from orders", {}, 1),
        ("sqlite", "select sql from sqlite_schema", {}, 1),
        ("duckdb", "from orders select id where id > {{ n }}", {"n": 0}, 2),
        ("duckdb", "from orders", {}, 3),
        ("duckdb", "table orders", {}, 3),
        ("duckdb", "values (1, 'a'), ({{ n }}, 'b')", {"n": 2}, 2),
        ("duckdb", "summarize orders", {}, 3),
        ("duckdb", "summarize select id from orders where id > {{ n }}", {"n": 0}, 1),
        ("duckdb", "describe orders", {}, 3),
        ("duckdb", "desc orders", {}, 3),
        ("duckdb", "describe select id, owner from orders", {}, 2),
        ("duckdb", "show tables", {}, 1),
        ("duckdb", "show orders", {}, 3),
        ("duckdb", "select name from pragma_table_info('orders')", {}, 3),
        ("duckdb", "pivot orders on owner using count(*)", {}, 3),
        ("duckdb", "pivot orders on owner using count(*) group by region", {}, 1),
        ("duckdb", "pivot_wider orders on owner using count(*) group by region", {}, 1),
        ("duckdb", "with p as (pivot orders on owner using count(*) group by region) select * from p", {}, 1),
        ("duckdb", "from (pivot orders on owner using count(*) group by region)", {}, 1),
        ("duckdb", "-- by owner\n(pivot orders on owner using count(*) group by region)", {}, 1),
        ("duckdb", "explain pivot orders on owner using count(*)", {}, 1),
        ("duckdb", "explain analyze select id from orders where id > {{ n }}", {"n": 0}, 1),
        ("duckdb", "explain (format json) (select id from orders)", {}, 1),
        ("duckdb", "explain analyze from orders", {}, 1),
        ("duckdb", "pivot orders on owner in ('acme') using max(id + {{ n }}) group by region", {"n": 1}, 1),
        ("duckdb", "unpivot orders on owner, region into name what value how", {}, 6),
        ("duckdb", "unpivot (from orders where id > {{ n }}) on owner, region into name what value how", {"n": 1}, 2),
    ],
)
async def test_every_statement_that_reads_runs(
    engine: str, sql: str, values: dict[str, object], count: int, run: Run
) -> None:
    """Whatever its first keyword is. Run twice, on one connection: nothing is left of the first."""
    for _ in range(2):
        rows = await run(engine, sql, **values)
        if engine == "mysql" or "explain" not in sql:
            assert len(rows) == count, rows


@pytest.mark.parametrize(
    "sql",
    [
        "explain analyze create temp table orders as select 9 as id",
        "EXPLAIN create temp table orders as select 9 as id",
        "explain (analyze, format json) create temp table orders as select 9 as id",
        "explain(analyze)create temp view orders as select 9 as id",
        "explain analyze create temp table orders as pivot orders on owner using count(*)",
        "explain analyze create temp macro count_orders() as 9",
        "explain analyze with x as (select 9 as id) insert into temp.orders select id from x",
        "explain analyze set variable owner = 'globex'",
        "explain analyze prepare p as select 1",
        "explain analyze begin",
    ],
)
async def test_explain_leaves_nothing_for_the_next_query(sql: str, run: Run) -> None:
    """DuckDB runs what it explains, and a table that is temporary belongs to the connection, which the next group has:
    its own `orders` would be read before the real one. Red when only the kind of the whole statement was looked at."""
    with pytest.raises(NotOneStatement):
        await run("duckdb", sql)
    assert [row["id"] for row in await run("duckdb", "select id from orders order by id")] == [0, 1, 2]


@pytest.mark.parametrize(
    "sql",
    [
        "pivot orders on owner using max(id + {{ n }})",
        "pivot (select * from orders where id > {{ n }}) on owner using max(id)",
        "select * from (pivot orders on owner using max(id)) where id > {{ n }}",
    ],
)
async def test_a_pivot_that_reads_its_columns_takes_no_values(sql: str, run: Run) -> None:
    """DuckDB itself cannot: the sentence says what it can. Red when it was a QueryFailed with a type's name."""
    with pytest.raises(
        NotOneStatement, match=r"cannot have values: name the columns, as in `pivot … on column in \('a', 'b'\)`"
    ):
        await run("duckdb", sql, n=1)


async def test_a_bad_value_of_a_declared_parameter_is_never_sent(run: Run, directory: Directory) -> None:
    """InvalidParameter passes through: 422 with the parameter's name, before any connection is made."""
    template = SQLTemplate("select id from orders where id = {{ params.n }}", params={"n": "integer"})
    for engine in EVERY:
        directory.registered.clear()
        with pytest.raises(InvalidParameter, match="n") as caught:
            await run(engine, template, params={"n": "k3y-c4n4ry"})
        assert caught.value.status == 422
        assert "k3y-c4n4ry" not in str(caught.value)


async def test_no_reason_quotes_a_value(run: Run, directory: Directory) -> None:
    """A reason quotes the first keyword of the template, and nothing a viewer sent."""
    for engine in EVERY:
        directory.registered.clear()
        with pytest.raises(TenantryError) as caught:
            await run(engine, "delete from orders where owner = {{ v }}", v="k3y-c4n4ry")
        assert "k3y-c4n4ry" not in str(caught.value)
