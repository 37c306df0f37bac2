"""The functions that guarded queries may call, on the engines of this process: each is one, and none reads a table.

Those of servers: test_safe_functions_of_servers.py.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import product

import duckdb
import pytest

from tenantry.datasources.engines.sqlite import FUNCTIONS
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding.safe_functions import safe_functions, safe_table_functions
from tests.sql.guarding.function_calls import (
    TEXTS,
    answered,
    calls_with_texts,
    dependent,
    from_calls,
    functions,
    table_functions,
    unknown,
)
from tests.sql.guarding.stages import TABLES
from tests.sql.test_dynamic_sql_engines import duckdb_argument

LISTED = ("postgresql", "sqlite", "duckdb", "mysql", "mariadb", "clickhouse")
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
        for name, function in FUNCTIONS.items():
            connection.create_function(name, 2, function, deterministic=True)
        connection.execute("create table orders as select 424242 as amount")
        names = {name.lower() for (name,) in connection.execute("select name from pragma_function_list")}
        missing = functions("sqlite") - names - NEWER
        assert unknown(missing, connection.execute, lambda _: False) == set()
        calls = [*calls_with_texts([*functions("sqlite"), "reads"], most=4), *from_calls(table_functions("sqlite"))]
        found = dependent(
            answered(calls, run), run, empty="delete from orders", fill="insert into orders values (424242)"
        )
        assert found == {"reads"}, "only the controls"
        assert found.isdisjoint(functions("sqlite"))


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
            answered([*calls, *of_rows, *tables], run),
            run,
            empty="delete from orders where amount > 1",
            fill="insert into orders values ('globex', 424242)",
        )
        assert found == {
            "stats",
            "query_table",
        }, "only the controls"
        assert found.isdisjoint(functions("duckdb") | table_functions("duckdb"))


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
                with pytest.raises(TemplateError, match=f"the function {name} may read a table"):
                    template.check()
