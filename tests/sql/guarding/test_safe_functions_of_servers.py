"""The functions that guarded queries may call, on real servers: each is one, and none reads a table."""

from __future__ import annotations

import re
from contextlib import closing
from itertools import product
from typing import Any

import psycopg
import pymysql
import pytest
from psycopg.rows import dict_row

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tests.sql.guarding.function_calls import (
    TEXTS,
    answered,
    calls_with_texts,
    dependent,
    from_calls,
    functions,
    repeated,
    table_functions,
    unknown,
)
from tests.sql.test_dynamic_sql_engines import postgres_calls

MYSQL_ONLY = {
    *("any_value", "bin_to_uuid", "format_bytes", "format_pico_time", "grouping", "is_uuid", "json_schema_valid"),
    *("json_schema_validation_report", "json_storage_size", "regexp_like", "uuid_to_bin"),
}

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
NOT_CALLED = re.compile(r"Code: (42|47|43(?!.*(orders|amount).*: In scope))\.")
"""ClickHouse refuses a number of arguments, a name, or a type: no value was read, so it refuses each text, and with an
empty table too. An error that quotes a text comes of its value."""
NO_COLUMN = re.compile(r"Code: 47\..*Unknown expression (or function )?identifier `orders`")
"""ClickHouse looked for a column of that name; where it looked for a table too, it says ``table expression``."""


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
        found = dependent(
            answered(calls, run), run, empty="delete from orders", fill="insert into orders values (424242)"
        )
    assert found == {"query_to_xml"}, "only the control"
    assert found.isdisjoint(listed)


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
        found = dependent(
            answered(calls, run), run, empty="delete from orders", fill="insert into orders values (424242)"
        )
        assert found == {"reads_it"}, "only the controls"
        assert found.isdisjoint(names)


@pytest.mark.slow
def test_clickhouse(clickhouse: ClickHouse) -> None:
    """Texts, and names without quotes: ``in(1, orders)`` reads the table of that name. It, ``joinGet`` and a function
    of this test are the controls. Red when one of them is listed."""

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
    clickhouse.query("create or replace function reads_it as (a) -> (select max(amount) from orders)")
    names = {name: name.lower() for (name,) in clickhouse.query("select name from system.functions")}
    spelled = {lower: name for name, lower in names.items()}
    combinators = [
        name.lower() for (name,) in clickhouse.query("select name from system.aggregate_function_combinators")
    ]
    aggregates = {name.lower() for (name,) in clickhouse.query("select name from system.functions where is_aggregate")}
    built = {f"{name}{a}{b}" for name, a, b in product(aggregates, ["", *combinators], ["", *combinators])}
    assert unknown(functions("clickhouse") - set(spelled) - built, clickhouse.query, lambda _: False) == set()
    listed = [spelled[name] for name in functions("clickhouse") if name in spelled]
    tested = [*listed, "in", "joinGet", "reads_it"]
    of_a_bare_name = [name for name in tested if not NO_COLUMN.match(run(f"select {name}(orders) as result"))]
    calls = [
        (name, f"select {name}({given}) as result")
        for names, arguments in (
            (tested, ("1, orders", "'joined', 'amount', 1")),
            (of_a_bare_name, ("orders", "joined, 'amount', 1", "main.orders")),
        )
        for name, given in product(names, arguments)
    ]
    calls += [(name, f"{sql} limit 3") for name, sql in from_calls(table_functions("clickhouse"))]
    answers = answered(calls, run)
    for name, count in product(tested, (1, 2)):
        columns = [f"{name}({repeated(text, count)})" for text in TEXTS]
        (answer,) = answered([(name, f"select {', '.join(columns)}")], run)
        if not answer.result.startswith("Code: "):
            answers.append(answer)
        elif not NOT_CALLED.match(answer.result):  # the error is of one text
            answers += answered([(name, f"select {column} as result") for column in columns], run)
    answers = [answer for answer in answers if not NOT_CALLED.match(answer.result)]

    tables = {"orders": "arrayJoin([1, 424242])", "main.orders": "arrayJoin([1, 424242])", "joined": "1, 424242"}
    empty = "\n".join(f"truncate table {table}" for table in tables)
    fill = "\n".join(f"insert into {table} select {row}" for table, row in tables.items())
    found = dependent(answers, run, empty=empty, fill=fill)
    assert found == {"in", "joinGet", "reads_it"}, "only the controls"
    assert found.isdisjoint(listed)
