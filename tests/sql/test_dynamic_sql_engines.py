"""Which functions of the real engines run the text that they are given: each engine is asked, function by function.

Every function of an engine's own catalogue that takes a text is called with a query that leaves a trace, with the name
of a view that does, and with the path of a file. What leaves the trace, or gives the file's content, must be in the
lists: so a new release with a new such function makes these tests red, as does a name that is taken out of its list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import product
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pymysql
import pytest

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql

pytestmark = pytest.mark.slow

QUERY, VIEW = "select nextval('ran')", "reader"
MARK = "a file of the server"
WRONG_NUMBER = "Code: 42."
"""ClickHouse refuses the number of arguments, so it refuses each text."""


def unlisted(dialect: str, found: Iterable[str]) -> set[str]:
    return {name for name in found if not DIALECTS[dialect].dynamic_functions.matches(name)}


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


PROBE = f"""
create sequence ran;
create view {VIEW} as select nextval('public.ran')::text as {VIEW};
create schema {VIEW};
create view {VIEW}.{VIEW} as select nextval('public.ran')::text as {VIEW};
create function probe(calls text[], connection text) returns setof int language plpgsql as $probe$
declare before bigint; result text; i int;
begin
  for i in 1 .. array_length(calls, 1) loop
    before := coalesce(pg_sequence_last_value('ran'), 0);
    result := null;
    begin
      if calls[i] like '%dblink%' then perform public.dblink_connect(connection); end if;
      execute calls[i] into result;
    exception when others then null;
    end;
    if coalesce(pg_sequence_last_value('ran'), 0) <> before or result like '%PostgreSQL configuration file%'
      or result like '%' || encode('PostgreSQL configuration file', 'hex') || '%' then return next i; end if;
  end loop;
end $probe$;
"""
# Not called: what changes the server for other tests, and what ends it.
CATALOGUE = """
select n.nspname as schema, p.proname as name, p.prorettype = 'record'::regtype and p.proallargtypes is null as columns,
  array(select format_type(t, null) from unnest(p.proargtypes) t) as types
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where p.prokind = 'f' and p.proname <> 'probe' and n.nspname <> 'information_schema'
  and p.proname !~ '^pg_(terminate|cancel|promote|backup|stat_reset|sync|replication|(create|drop|copy)_.*slot)'
"""
TEXTS = {"text", "character varying", "name", "cstring", "character", "regclass", "refcursor", "xml"}
ANY = {"anyelement", "anynonarray", '"any"', "anycompatible"}
OTHERS = {"boolean": "true", "tsquery": "'a'", "json": "'{}'", "jsonb": "'{}'", "bytea": "'a'"}
OTHERS |= dict.fromkeys(("smallint", "integer", "bigint", "oid", "real", "double precision", "numeric"), "1")


def postgres_argument(kind: str, text: str) -> str:
    if kind in TEXTS:
        return f"{quoted(text)}::{kind}"
    if kind in ANY:
        return f"{quoted(text)}::text"
    if kind == "text[]":
        return f"array[{quoted(text)}]"
    return f"{OTHERS.get(kind, 'null')}::{kind}"


def postgres_calls(function: asyncpg.Record, text: str) -> Iterator[str]:
    if (
        not TEXTS.isdisjoint(function["types"])
        or not ANY.isdisjoint(function["types"])
        or "text[]" in function["types"]
    ):
        arguments = ", ".join(postgres_argument(kind, text) for kind in function["types"])
        call = f'{function["schema"]}."{function["name"]}"({arguments})'
        if not function["columns"]:
            yield f"select ({call})::text"
        for columns in ("a text", "a text, b text, c int") if function["columns"] else ():
            yield f"select t::text from {call} as t({columns})"


async def test_postgresql(postgres: Postgres) -> None:
    """The server's own functions and those of all extensions that come with it."""
    url = postgres.create_database()
    connection = await asyncpg.connect(url)
    try:
        for extension in await connection.fetch("select name from pg_available_extensions where name <> 'pg_surgery'"):
            await connection.execute(f'create extension if not exists "{extension["name"]}" cascade')
        await connection.execute(PROBE)
        file = await connection.fetchval("select current_setting('config_file')")
        catalogue = await connection.fetch(CATALOGUE)
        calls, names = [], []
        for function, text in product(catalogue, (QUERY, VIEW, file)):
            for call in postgres_calls(function, text):
                calls.append(call)
                names.append(function["name"])
        found = await connection.fetch("select * from probe($1, $2)", calls, url, timeout=300)
        ran = {names[number - 1] for (number,) in found}
    finally:
        await connection.close()
    assert unlisted("postgresql", ran) == set()
    assert ran >= {"query_to_xml", "ts_stat", "ts_rewrite", "pg_read_file", "pg_read_binary_file"}, "the probe works"
    assert ran >= {"dblink", "crosstab", "connectby"}


async def test_no_operator_or_cast_of_postgresql_is_such_a_function(postgres: Postgres) -> None:
    """No other way leads to them than their names."""
    connection = await asyncpg.connect(postgres.url)
    try:
        used = await connection.fetch(
            "select p.proname from pg_proc p join (select oprcode as f from pg_operator union all select castfunc from"
            " pg_cast union all select typinput from pg_type union all select aggtransfn from pg_aggregate) u"
            " on u.f = p.oid"
        )
    finally:
        await connection.close()
    assert len(used) > 1000
    assert not [name for (name,) in used if DIALECTS["postgresql"].dynamic_functions.matches(name)]


def duckdb_argument(kind: str | None, text: str) -> str:
    if kind is None or kind in {"VARCHAR", "ANY", "T", "K", "V", "JSON", "TABLE"}:
        return quoted(text)
    if kind in {"VARCHAR[]", "ANY[]", "T[]"}:
        return f"[{quoted(text)}]"
    return "true" if kind == "BOOLEAN" else "1"


def test_duckdb() -> None:
    """Scalar, table and macro functions; queries also in the serialised form that one of them runs."""
    with closing(duckdb.connect(config={"enable_external_access": "false", "threads": 1})) as connection:
        connection.execute(f"create sequence ran; create view {VIEW} as select nextval('ran') as {VIEW}")
        serialised = connection.execute(f"select json_serialize_sql({quoted(QUERY)})::varchar").fetchall()[0][0]
        catalogue = connection.execute(
            "select distinct function_name, case when function_type in ('table', 'table_macro', 'pragma') then 'from'"
            " else 'select' end, parameter_types"
            " from duckdb_functions() where not list_contains(parameter_types, 'POINTER')"
            " and function_type not in ('aggregate', 'window') and function_name not like 'collate_%'"
        ).fetchall()
        calls = {
            f'{head} "{name}"({", ".join(duckdb_argument(kind, text) for kind in kinds)})': name
            for name, head, kinds in catalogue
            for text in ((QUERY, VIEW, serialised) if head == "from" else (QUERY,))
            if any(quoted(text) in duckdb_argument(kind, text) for kind in kinds)
        }
        ran = {calls[call] for call in duckdb_calls_that_leave_a_trace(connection, list(calls))}
    assert len(calls) > 500
    assert unlisted("duckdb", ran) == set()
    assert ran >= {"query", "query_table", "json_execute_serialized_sql"}, "the probe works"


def duckdb_leaves_a_trace(connection: duckdb.DuckDBPyConnection, *calls: str, params: Any = None) -> bool:
    last = "select last_value from duckdb_sequences()"
    before = connection.execute(last).fetchall()
    for call in calls:
        with suppress(duckdb.Error):
            connection.execute(call, params).fetchall()
    return connection.execute(last).fetchall() != before


def duckdb_calls_that_leave_a_trace(connection: duckdb.DuckDBPyConnection, calls: list[str]) -> list[str]:
    """By halves: to ask after each call takes most of the time."""
    if not duckdb_leaves_a_trace(connection, *calls):
        return []
    if len(calls) == 1:
        return calls
    half = len(calls) // 2
    return [
        found for part in (calls[:half], calls[half:]) for found in duckdb_calls_that_leave_a_trace(connection, part)
    ]


def test_sqlite(tmp_path: Path) -> None:
    """Functions, and the table-valued functions of its modules."""
    file = tmp_path / "file"
    file.write_text(MARK)
    ran: set[str] = set()
    traces: list[int] = []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("nextval", 1, lambda _: traces.append(1))
        connection.create_function("evaluate", 1, lambda text: str(connection.execute(text).fetchall()))  # the control
        connection.execute(f"create view {VIEW} as select nextval('ran') as {VIEW}")
        functions = connection.execute("select distinct name, narg from pragma_function_list").fetchall()
        calls = [(name, "select ", count) for name, narg in functions for count in ([narg] if narg > 0 else [1, 2, 3])]
        modules = connection.execute("select name from pragma_module_list").fetchall()
        calls += [(name, "select * from ", count) for (name,) in modules for count in (1, 2)]
        for (name, head, count), text in product(calls, (QUERY, VIEW, str(file))):
            traces.clear()
            result: list[Any] = []
            with suppress(sqlite3.Error):
                result = connection.execute(f'{head}"{name}"({", ".join(["?"] * count)})', [text] * count).fetchall()
            if traces or MARK in str(result):
                ran.add(name)
    assert len(functions) > 50
    assert ran - {"nextval"} == {"evaluate"}, "none but the one of this test"


def test_a_string_names_a_table_function_in_sqlite() -> None:
    """Why a string before ``(`` counts as a name: red without, for ``from 'fsdir'(…)`` compiled."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table orders (id)")
        assert connection.execute("select name from main.'pragma_table_info' (?)", ["orders"]).fetchall() == [("id",)]
    assert has_dynamic_sql("select name from main.'fsdir' (?)", "sqlite")


def test_mariadb(mariadb: MariaDB, tmp_path: Path) -> None:
    """Its catalogue has names only: each is called with up to four texts."""
    file = tmp_path / "file"
    file.write_text(MARK)
    database = mariadb.create_database()
    ran: set[str] = set()
    with closing(mariadb.connect(database)) as connection, connection.cursor() as cursor:
        cursor.execute("create sequence ran nocache")
        cursor.execute(f"create view {VIEW} as select nextval(ran) as {VIEW}")
        cursor.execute("set session max_statement_time = 5")
        cursor.execute("select function from information_schema.sql_functions")
        functions = [name.lower() for (name,) in cursor.fetchall()]
        for name, text, count in product(
            [*functions, "load_file"], ("select nextval(ran)", VIEW, str(file)), range(1, 5)
        ):
            cursor.execute("select next_not_cached_value from ran")
            before = cursor.fetchall()
            result: Any = ()
            with suppress(pymysql.MySQLError):
                cursor.execute(f"select {name}({', '.join(['%s'] * count)})", [text] * count)
                result = cursor.fetchall()
            cursor.execute("select next_not_cached_value from ran")
            if cursor.fetchall() != before or MARK in str(result):
                ran.add(name)
    assert len(functions) > 200
    assert unlisted("mysql", ran) == set()
    assert ran == {"load_file"}, "the probe works"


def test_clickhouse(clickhouse: ClickHouse, tmp_path: Path) -> None:
    """Table functions, and the functions of one text. Of the listed ones only a few: others wait for a network."""
    file = tmp_path / "file"
    file.write_text(MARK)
    probe = {"loop", "merge", "file"}
    rules = DIALECTS["clickhouse"].dynamic_functions
    clickhouse.query("create database d")
    clickhouse.query(f"create table d.{VIEW} engine = Memory as select {quoted(MARK)} as {VIEW}")

    def answer(sql: str) -> str:
        try:
            return str(clickhouse.query(sql))
        except ClickHouseError as error:
            return str(error)

    texts = [quoted(text) for text in (f"select {VIEW} from d.{VIEW}", f"d.{VIEW}", str(file))]
    of_tables = [*texts, f"'d', {quoted(VIEW)}", *(f"{text}, 'LineAsString'" for text in texts)]
    one = "select name from system.functions where not is_aggregate and alias_to = '' and name not like 'sleep%'"
    names = [(name, [f"toString(`{name}`({text}))" for text in texts]) for (name,) in clickhouse.query(one)]
    tables = clickhouse.query("select name from system.table_functions")
    names += [(name, [f"* from `{name}`({given}) limit 1" for given in of_tables]) for (name,) in tables]
    ran: set[str] = set()
    for name, calls in names:
        if rules.matches(name) and name not in probe:
            continue
        result = answer(f"select {', '.join(calls)}")  # of table functions this is no SQL
        if result.startswith("Code: ") and not result.startswith(WRONG_NUMBER):
            result = "".join(answer(f"select {call}") for call in calls)
        if MARK in result:
            ran.add(name)
    assert len(names) > 800
    assert unlisted("clickhouse", ran) == set()
    assert ran == probe, "the probe works"


def test_no_function_of_duckdb_shows_the_table_that_a_text_names() -> None:
    """Every table function and macro, asked with a name. Red without ``histogram`` or ``pragma_storage_info``."""
    with closing(duckdb.connect(config={"enable_external_access": "false", "threads": 1})) as connection:
        connection.execute("create table orders as select 424242 as amount")
        kinds = "select distinct function_name from duckdb_functions() where function_type in ('table', 'table_macro')"
        calls = [
            f"select * from {name}({arguments})"
            for (name,) in connection.execute(kinds).fetchall()
            for arguments in ("?", "?, amount")
        ]
        shown = []
        for sql in calls:
            with suppress(duckdb.Error):
                if "424242" in str(connection.execute(sql, ["orders"]).fetchall()):
                    shown.append(sql)
    assert len(calls) > 100
    assert "select * from query_table(?)" in shown, "the probe works"
    assert [sql for sql in shown if not has_dynamic_sql(sql, "duckdb")] == []


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        ("select * from histogram({{ a }}, b)", True),
        ("select * from t, system.main.histogram({{ a }}, b)", True),
        ("select * from (select 1 where true) s join t on true cross join histogram({{ a }}, b)", True),
        ("from {{ params.c | one_of(h: histogram, r: range) }}({{ a }})", True),
        ("pivot histogram({{ a }}, b) on bin using sum(count)", True),
        ("select histogram(b * {{ a }}) as h from t", False),
        ("select (select 1 from t), histogram(b) as h from t where c = {{ a }} having histogram(b) is not null", False),
        ("select a from histogram where b = {{ a }}", False),
    ],
)
def test_histogram_is_refused_where_it_is_a_table(sql: str, refused: bool) -> None:
    """DuckDB has an aggregate of this name too. Red when ``_table_calls`` knows no parentheses."""
    if refused:
        with pytest.raises(TemplateError, match="reads a table or file by name"):
            SQLTemplate(sql, "duckdb")
    else:
        SQLTemplate(sql, "duckdb")


def test_what_stands_between_a_name_and_its_parenthesis_in_duckdb() -> None:
    """DuckDB takes many a character for a space. Whichever lets the call through is passed over by the rule, too."""
    with closing(duckdb.connect(config={"threads": 1})) as connection:
        connection.execute("create sequence ran")
        unseen = []
        for character in map(chr, [*range(1, 0x100), *range(0x1680, 0x1681), *range(0x2000, 0x2070), 0x3000, 0xFEFF]):
            sql = f"from query{character}(?)"
            if duckdb_leaves_a_trace(connection, sql, params=[QUERY]) and not has_dynamic_sql(sql, "duckdb"):
                unseen.append(hex(ord(character)))
    assert unseen == []


def test_a_value_would_choose_the_columns_in_duckdb() -> None:
    """What ``columns(…)`` does with a value, and so why no variable is allowed in it."""
    with closing(duckdb.connect()) as connection:
        connection.execute("create table orders (id integer, secret text)")
        chosen = connection.execute("select columns(lower(?)) from orders", ["SECRET"]).description
    assert [column[0] for column in chosen or ()] == ["secret"]
    with pytest.raises(TemplateError, match="would name a column"):
        SQLTemplate("select columns(lower({{ params.which }})) from orders", "duckdb")
