"""The functions that guarded queries may call, on the real engines: each is one, and none reads a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import product
from typing import Any

import duckdb
import psycopg
import pymysql
import pytest
from psycopg.rows import dict_row

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.datasources.engines.sqlite import local_time
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding.safe_functions import safe_functions, safe_table_functions
from tests.sql.guarding.stages import TABLES
from tests.sql.test_dynamic_sql_engines import duckdb_argument, postgres_calls

LISTED = ("postgresql", "sqlite", "duckdb", "mysql", "mariadb", "clickhouse")
TEXTS = ("orders", "select amount from orders", "main.orders", "amount")
FORMS = (  # ways of calling what the grammar knows
    *("()", "(1)", "(1, 1)", "(1, 1, 1)", "(1, 1, 1, 1)", "('1')", "('a', 'b')", "(distinct 1)", "(null)", "('[1]')"),
    *("() over ()", "(1) over (order by 1)", "(1, 1) over (order by 1)", "(0.5) within group (order by 1)"),
    *(
        "(1 as char)",
        "('a' using utf8mb4)",
        "() over (order by 1)",
        "(1 as text)",
        "(1 as varchar)",
        "(day from now())",
        "(year from date '2026-01-01')",
        "('a' in 'a')",
    ),
    *(
        "(now(), interval 1 day)",
        "(day, 1, now())",
        "(day, now(), now())",
        "(date, 'usa')",
        "(0.5) over ()",
        "(both from 'a')",
    ),
    *(
        "(a) from (select 1 as a) t group by rollup (a)",
        "(*) from (select 1 as a) t",
        "('[1]', '$')",
        "(content '<a/>')",
    ),
    *(
        "(name a)",
        "(1 as a)",
        "(xmltext('a'))",
        "(xmltext('a'), version '1.0')",
        "(content xmltext('a') as text)",
        "('a' : 1)",
    ),
    *(
        "('a', json_array(1))",
        "('{}', '{}')",
        "('{}', '$')",
        "(INTERVAL 1 DAY, now())",
        "(day, 1, toDate('2026-01-01'))",
    ),
    *("(amount, 0.5) over ()", "(1 as int)", "(0.5) within group (order by 1) over ()"),
)
NEWER = {
    *(
        "concat",
        "concat_ws",
        "if",
        "json_error_position",
        "jsonb",
        "median",
        "octet_length",
        "percentile",
        "string_agg",
    ),
    *("timediff", "unhex", "unistr"),
}
MYSQL_ONLY = {
    *("any_value", "bin_to_uuid", "format_bytes", "format_pico_time", "grouping", "is_uuid", "json_schema_valid"),
    *("json_schema_validation_report", "json_storage_size", "regexp_like", "uuid_to_bin"),
}

Run = Callable[[str], Any]


def functions(dialect: str) -> frozenset[str]:
    names = safe_functions(DIALECTS[dialect])
    assert names is not None
    return names


def table_functions(dialect: str) -> frozenset[str]:
    names = safe_table_functions(DIALECTS[dialect])
    assert names is not None
    return names


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_lists(dialect: str) -> None:
    """A dialect whose engine was asked has both lists, in lower case, and none of them has a function that runs SQL.
    Red when ``query_to_xml`` is among the trusted ones of PostgreSQL."""
    rules = DIALECTS[dialect]
    if dialect not in LISTED:
        assert safe_functions(rules) is None
        assert safe_table_functions(rules) is None
        return
    names = functions(dialect) | table_functions(dialect)
    assert {"lower", "sum", "count", "coalesce", "cast"} <= names
    assert {name for name in names if name != name.lower()} == set()
    assert {name for name in names if rules.dynamic_functions.matches(name)} == set()


def unknown(names: Iterable[str], run: Run, is_there: Callable[[Any], bool]) -> set[str]:
    """Those of which no call runs, and none fails with an error that shows that the function is there."""
    missing = set()
    for name in names:
        for form in FORMS:
            try:
                run(f"select {name}{form}")
            except (sqlite3.Error, duckdb.Error, psycopg.Error, pymysql.MySQLError, ClickHouseError) as error:
                if is_there(error):
                    break
            else:
                break
        else:
            missing.add(name)
    return missing


def dependent(calls: Iterable[tuple[str, str]], run: Run, *, empty: str, fill: str) -> set[str]:
    """Functions that show a row of the table, or whose result, or error, is another while the table is empty. ``calls``
    are pairs of a name and SQL; ``empty`` and ``fill`` are statements, one a line."""
    before = [(name, sql, run(sql)) for name, sql in calls]
    for statement in empty.splitlines():
        run(statement)
    changed = [(name, sql, full) for name, sql, full in before if run(sql) != full]
    for statement in fill.splitlines():
        run(statement)
    steady = {name for name, sql, full in changed if run(sql) == full}  # others depend on the clock, or on chance
    return steady | {name for name, _, full in before if "424242" in full}


def calls_with_texts(names: Iterable[str], *, most: int, arguments: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Calls with one text up to four times, and with other arguments."""
    repeated = [", ".join([f"'{text}'"] * count) for text, count in product(TEXTS, range(1, most + 1))]
    for name, given in product(names, [*repeated, *arguments]):
        yield name, f"select {name}({given})"


def from_calls(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name, text, count in product(names, TEXTS, range(1, 3)):
        yield name, f"select * from {name}({', '.join([f'{text!r}'] * count)})"


# --- SQLite -----------------------------------------------------------------------------------------------------------


def test_sqlite() -> None:
    """The control is a function of this test that reads the table. Red when it is listed."""
    with closing(sqlite3.connect(":memory:")) as connection:

        def run(sql: str) -> str:
            try:
                return repr(connection.execute(sql).fetchall())
            except sqlite3.Error as error:
                return repr(error)

        connection.create_function(
            "reads", -1, lambda *_: connection.execute("select max(amount) from orders").fetchone()[0]
        )
        connection.create_function("tenantry_local_time", 2, local_time, deterministic=True)
        connection.execute("create table orders as select 424242 as amount")
        names = {name.lower() for (name,) in connection.execute("select name from pragma_function_list")}
        missing = functions("sqlite") - names - NEWER
        assert unknown(missing, connection.execute, lambda _: False) == set()
        calls = [*calls_with_texts([*functions("sqlite"), "reads"], most=4), *from_calls(table_functions("sqlite"))]
        found = dependent(calls, run, empty="delete from orders", fill="insert into orders values (424242)")
        assert found == {"reads"}, "only the controls"
        assert found.isdisjoint(functions("sqlite"))


# --- DuckDB -----------------------------------------------------------------------------------------------------------


def test_duckdb() -> None:
    """Functions by their types, and table functions. The controls are ``query_table``, and ``stats``, which shows the
    least and the greatest value of the whole table. Red when one of them is listed."""
    with closing(duckdb.connect(config={"enable_external_access": "false", "threads": 1})) as connection:

        def run(sql: str) -> str:
            try:
                return repr(connection.execute(sql).fetchall())
            except duckdb.Error as error:
                return repr(error)

        connection.execute("create table orders as select 'acme' as tenant, 1 as amount")
        connection.execute("insert into orders values ('globex', 424242)")
        sql = "select distinct lower(function_name), parameter_types from duckdb_functions() where function_type in"
        rows = connection.execute(f"{sql} ('scalar', 'aggregate', 'window', 'macro')").fetchall()
        missing = functions("duckdb") - {name for name, _ in rows}
        assert unknown(missing, connection.execute, lambda _: False) == set()
        calls = [
            (name, f"select {name}({', '.join(duckdb_argument(kind, text) for kind in kinds)})")
            for (name, kinds), text in product(rows, TEXTS)
            if name in functions("duckdb")
        ]
        of_rows = [
            (name, f"select {name}(amount) from (select * from orders where tenant = 'acme')")
            for name in [*functions("duckdb"), "stats"]
        ]
        tables = from_calls([*table_functions("duckdb"), "query_table"])
        assert len(calls) > 1000
        found = dependent(
            [*calls, *of_rows, *tables],
            run,
            empty="delete from orders where amount > 1",
            fill="insert into orders values ('globex', 424242)",
        )
        assert found == {
            "stats",
            "query_table",
        }, "only the controls"
        assert found.isdisjoint(functions("duckdb") | table_functions("duckdb"))


# --- PostgreSQL -------------------------------------------------------------------------------------------------------

CATALOGUE = """
select n.nspname as schema, p.proname as name, p.prorettype = 'record'::regtype and p.proallargtypes is null as columns,
  array(select format_type(t, null) from unnest(p.proargtypes) t) as types
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where p.prokind in ('f', 'a') and n.nspname = 'pg_catalog' and p.proname = any (%s)
"""
TABLE_SYNTAX = {
    "json_table": "select * from json_table('[1]', '$[*]' columns (a int path '$')) t",
    "xmltable": "select * from xmltable('/a' passing '<a>1</a>' columns a int path '.') t",
}


def test_postgresql(postgres: Postgres) -> None:
    """The functions with a text among their arguments; the control is ``query_to_xml``. Red when it is listed."""
    listed = functions("postgresql") | table_functions("postgresql")
    with psycopg.connect(postgres.create_database(), autocommit=True, row_factory=dict_row) as connection:

        def execute(sql: str) -> Any:
            return connection.execute(sql.encode()).fetchall()

        def run(sql: str) -> str:
            try:
                return repr(execute(sql))
            except psycopg.Error as error:
                return repr(error)

        known = {row["proname"] for row in execute("select proname from pg_proc where pronamespace = 11")}
        for example in TABLE_SYNTAX.values():
            assert "FeatureNotSupported" in run(example) or execute(example) == [{"a": 1}]
        missing = listed - known - set(TABLE_SYNTAX)
        assert unknown(missing, execute, lambda error: isinstance(error, psycopg.errors.FeatureNotSupported)) == set()
        connection.execute("create table orders as select 424242 as amount")
        rows = connection.execute(CATALOGUE, [[*listed, "query_to_xml"]]).fetchall()
        calls = [(row["name"], sql) for row, text in product(rows, TEXTS) for sql in postgres_calls(row, text)]
        assert len(calls) > 500
        found = dependent(calls, run, empty="delete from orders", fill="insert into orders values (424242)")
    assert found == {"query_to_xml"}, "only the control"
    assert found.isdisjoint(listed)


# --- MariaDB ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_mariadb(mariadb: MariaDB) -> None:
    """Calls with up to four texts. The control is a stored function that reads the table; red when it is listed. Names
    that only MySQL has are not on this server."""
    database = mariadb.create_database()
    with closing(mariadb.connect(database)) as connection, connection.cursor() as cursor:

        def execute(sql: str) -> Any:
            cursor.execute(sql)
            return cursor.fetchall()

        def run(sql: str) -> str:
            try:
                return repr(execute(sql))
            except pymysql.MySQLError as error:
                return repr(error)

        execute("create table orders as select 424242 as amount")
        execute("create function reads_it(a text) returns int reads sql data return (select max(amount) from orders)")
        names = functions("mariadb") | functions("mysql")
        assert unknown(names, execute, lambda error: error.args[0] == 1582) <= MYSQL_ONLY
        calls = list(calls_with_texts([*names, "reads_it"], most=4))
        found = dependent(calls, run, empty="delete from orders", fill="insert into orders values (424242)")
        assert found == {"reads_it"}, "only the controls"
        assert found.isdisjoint(names)


# --- ClickHouse -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_clickhouse(clickhouse: ClickHouse) -> None:
    """Texts, and names without quotes: ``in(1, orders)`` reads the table of that name. Red when it or ``joinGet``,
    the controls, are listed."""

    def run(sql: str) -> str:
        try:
            return repr(clickhouse.query(sql))
        except ClickHouseError as error:
            return str(error)

    clickhouse.query("create database if not exists main")
    clickhouse.query("create or replace table orders (amount UInt32) engine = Memory as select arrayJoin([1, 424242])")
    clickhouse.query(
        "create or replace table main.orders (amount UInt32) engine = Memory as select arrayJoin([1, 424242])"
    )
    clickhouse.query(
        "create or replace table joined (k UInt8, amount UInt32) engine = Join(any, left, k) as select 1, 424242"
    )
    names = {name: name.lower() for (name,) in clickhouse.query("select name from system.functions")}
    spelled = {lower: name for name, lower in names.items()}
    combinators = [
        name.lower() for (name,) in clickhouse.query("select name from system.aggregate_function_combinators")
    ]
    aggregates = {name.lower() for (name,) in clickhouse.query("select name from system.functions where is_aggregate")}
    built = {f"{name}{a}{b}" for name, a, b in product(aggregates, ["", *combinators], ["", *combinators])}
    assert unknown(functions("clickhouse") - set(spelled) - built, clickhouse.query, lambda _: False) == set()
    listed = [spelled[name] for name in functions("clickhouse") if name in spelled]
    arguments = ("orders", "1, orders", "'joined', 'amount', 1", "joined, 'amount', 1", "main.orders")
    calls = [
        (name, f"{sql} as result")
        for name, sql in calls_with_texts([*listed, "in", "joinGet"], most=2, arguments=arguments)
    ]
    calls += [(name, f"{sql} limit 3") for name, sql in from_calls(table_functions("clickhouse"))]

    tables = {"orders": "arrayJoin([1, 424242])", "main.orders": "arrayJoin([1, 424242])", "joined": "1, 424242"}
    empty = "\n".join(f"truncate table {table}" for table in tables)
    fill = "\n".join(f"insert into {table} select {row}" for table, row in tables.items())
    found = dependent(calls, run, empty=empty, fill=fill)
    assert found == {"in", "joinGet"}, "only the controls"
    assert found.isdisjoint(listed)


def test_a_name_of_a_function_and_of_a_table_macro() -> None:
    """In ``from``, DuckDB calls the macro, which reads the table of that name: only the list for ``from`` counts there.
    Red with words such as ``format`` as the end of ``from``."""
    with closing(duckdb.connect()) as connection:
        listed = "select distinct function_name from duckdb_functions() where function_type like 'table%'"
        found = {name for (name,) in connection.execute(listed).fetchall()}
    both = (found & functions("duckdb")) - table_functions("duckdb")
    assert "histogram" in both
    for name in both:
        for before in ("o as a", "o format", "o settings", "o join t on settings = 1", "(o join t on format = 1)"):
            for join in (",", "cross join"):
                template = SQLTemplate(f"select 1 from {before} {join} {name}(o, id) h", "duckdb").guarded(TABLES)
                with pytest.raises(TemplateError, match=f"the function {name} is not known"):
                    template.check()
