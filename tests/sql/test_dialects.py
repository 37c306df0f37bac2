"""The dialects: one module each; and what they write differently, on the real engines."""

from __future__ import annotations

import ast
import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import closing
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import asyncpg
import duckdb
import pytest

from engines.clickhouse import ClickHouse
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import TemplateError, UnbindableValue
from tenantry.sql import PARAMSTYLES, SQLTemplate, dialects
from tenantry.sql.checks.lint import lint
from tenantry.sql.dialects import DIALECTS, UNITS
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql
from tests.sql.each_dialect import each_dialect

Query: TypeAlias = Callable[[str], Coroutine[Any, Any, list[list[Any]]]]


def test_every_module_is_a_dialect_of_its_name_and_postgresql_is_the_first() -> None:
    """A new dialect is one new file. Red when ``_dialects`` names the modules itself and one is missing there."""
    modules = sorted(path.stem for path in Path(dialects.__path__[0]).glob("*.py"))
    names = [name for name in modules if name not in {"__init__", "dialect"}]
    assert list(DIALECTS) == ["postgresql", *(name for name in names if name != "postgresql")]
    for name in names:
        assert import_module(f"tenantry.sql.dialects.{name}").DIALECT.name == name


NEW = """
from dataclasses import replace
from tenantry.sql.dialects import postgresql

DIALECT = replace(
    postgresql.DIALECT,
    name="newest",
    paramstyle="qmark",
    or_operators=frozenset({"or", "either"}),
    empty_in="is nothing",
    like_escape="^",
    like_escape_clause="escape '^'",
)
"""


def test_a_new_dialect_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beside the others is all: templates, checks and the command line have the dialect then. Red when one of
    them has a list of its own."""
    (tmp_path / "newest.py").write_text(NEW, "utf-8")
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path)])
    found = dialects._dialects()
    monkeypatch.delitem(sys.modules, "tenantry.sql.dialects.newest")
    monkeypatch.setitem(DIALECTS, "newest", found["newest"])
    text = "select 1 where a = {{ x }} and b in {{ xs }} and c like {{ x | contains }} [[ and d = {{ params.d }} ]]"
    bound = SQLTemplate(text, "newest").bind({"x": 1, "xs": []})
    assert (bound.dialect, bound.paramstyle) == ("newest", "qmark")
    assert "b is nothing and c like ? escape '^'" in bound.sql
    assert SQLTemplate(text).bind({"x": 1, "xs": [2]}, dialect="newest").sql.count("?") == 3
    (finding,) = lint(SQLTemplate("select * from t where a = {{ x }} and b either c", "newest"))
    assert finding.code == "or-beside-guarded"
    assert not has_dynamic_sql(bound.sql, "newest")


NAMED_ELSEWHERE = {
    ("template.py", "postgresql"): "the dialect of a template that names none",
    ("parsing/dynamic_sql.py", "duckdb"): "the engine of other people's texts is not known: each engine reads this one",
}


def test_no_other_module_names_a_dialect() -> None:
    """Its facts are in its own file: what differs by dialect is a field of Dialect. The converters name what the other
    tools call their databases, and the private names are a table for each engine. Red when a rule compares names
    again."""
    package = Path(dialects.__path__[0]).parent
    found = set()
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not name.startswith(("dialects/", "convert/", "private_names/tables.py")):
            constants = (
                node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)
            )
            found |= {(name, value) for value in constants if isinstance(value, str) and value in DIALECTS}
    assert found == set(NAMED_ELSEWHERE)


@each_dialect
def test_every_dialect_is_whole(dialect: str) -> None:
    """A bucket for each unit, a paramstyle that exists. Red when a dialect lacks a unit, or a bucket its column."""
    rules = DIALECTS[dialect]
    assert rules.paramstyle in PARAMSTYLES
    assert set(rules.time_buckets) == set(UNITS)
    for unit in UNITS:
        assert "col" in rules.trunc(unit, "col")
    with pytest.raises(ValueError, match="no unit 'eon'"):
        rules.trunc("eon", "col")
    if rules.local_time:
        assert "'Europe/Berlin'" in rules.trunc("day", "col", "'Europe/Berlin'")
    else:
        with pytest.raises(ValueError, match="knows no time zones"):
            rules.trunc("day", "col", "'Europe/Berlin'")
    assert rules.like_escape_clause == ("" if rules.like_escape == "\\" else f"escape '{rules.like_escape}'")


@pytest.fixture(params=["postgresql", "sqlite", "duckdb", "mysql", "mariadb", "clickhouse"])
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, Query]]:
    """A dialect, and a function that runs a text on its real engine: MariaDB for both mysql and mariadb."""
    name = request.param
    if name == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        connection = await asyncpg.connect(postgres.url, server_settings={"timezone": "UTC"})

        async def on_postgres(sql: str) -> list[list[Any]]:
            return [list(row) for row in await connection.fetch(sql)]

        yield name, on_postgres
        await connection.close()
    elif name == "clickhouse":
        clickhouse: ClickHouse = request.getfixturevalue("clickhouse")

        async def on_clickhouse(sql: str) -> list[list[Any]]:
            return clickhouse.query(sql)

        yield name, on_clickhouse
    elif name in {"mysql", "mariadb"}:
        mariadb: MariaDB = request.getfixturevalue("mariadb")

        async def on_mariadb(sql: str) -> list[list[Any]]:
            return [list(row) for row in mariadb.execute(sql)]

        yield name, on_mariadb
    else:
        opened: Any = sqlite3.connect(":memory:") if name == "sqlite" else duckdb.connect()
        with closing(opened) as database:
            if name == "duckdb":
                database.execute("set timezone = 'UTC'")

            async def on_library(sql: str) -> list[list[Any]]:
                return [list(row) for row in database.execute(sql).fetchall()]

            yield name, on_library


TYPES = {
    "postgresql": ("text", "int", "date", "uuid", "boolean"),
    "sqlite": ("text", "integer"),
    "duckdb": ("text", "int", "date", "uuid", "boolean"),
    "mysql": ("char", "signed", "date"),
    "mariadb": ("char", "signed", "date", "uuid"),
    "clickhouse": ("Nullable(String)", "Nullable(Int32)", "Nullable(Date)", "Nullable(UUID)", "Nullable(Bool)"),
}
EXAMPLES = {"date": "'2026-01-31'", "uuid": "'00000000-0000-0000-0000-000000000001'"}


async def test_what_binds_less_than_and(engine: tuple[str, Query]) -> None:
    """``true <operator> true and false`` is true of these, of `?` with its other half; else it is false, or no SQL. Red
    when ``or_operators`` of a dialect lacks one: beside it a condition does not hold for all rows.
    """
    dialect, query = engine
    loose = set()
    texts = {operator: f"1 = 1 {operator} 1 = 1 and 1 = 0" for operator in ("or", "||", "xor", "|", "&&")}
    texts["?"] = "1 = 1 and 1 = 0 ? 1 = 1 : 1 = 1"
    for operator, condition in texts.items():
        try:
            if await query(f"select 1 where {condition}"):
                loose.add(operator)
        except Exception:  # noqa: BLE001  # each driver has its own: no such operator
            continue
    assert loose == DIALECTS[dialect].or_operators


async def test_an_empty_list_is_right_with_null(engine: tuple[str, Query]) -> None:
    """``in`` nothing is false and ``not in`` nothing is true, of a value and of NULL, of every type; under ``not`` too.

    Red when clickhouse writes ``in ()`` alone, which is NULL of NULL.
    """
    dialect, query = engine
    for kind in TYPES[dialect]:
        name = kind.lower().removeprefix("nullable(").rstrip(")")
        for value in ("null", EXAMPLES.get(name, "'true'" if name.startswith("bool") else "'1'")):
            x = f"cast({value} as {kind})"
            texts = (
                f"select 1 where {x} in {{{{ xs }}}}",
                f"select 1 where {x} not in {{{{ xs }}}}",
                f"select 1 where not {x} in {{{{ xs }}}}",
                f"select 1 where not {x} not in {{{{ xs }}}}",
            )
            found = []
            for text in texts:
                bound = SQLTemplate(text, dialect).bind({"xs": []})
                found.append(len(await query(bound.sql)))
            assert found == [0, 1, 1, 0], (kind, value)


STARTS = {
    "second": "2026-11-22 23:30:15",  # the moment itself, on a Sunday
    "minute": "2026-11-22 23:30:00",
    "hour": "2026-11-22 23:00:00",
    "day": "2026-11-22 00:00:00",
    "week": "2026-11-16 00:00:00",
    "month": "2026-11-01 00:00:00",
    "quarter": "2026-10-01 00:00:00",
    "year": "2026-01-01 00:00:00",
}
IN_BERLIN = {**STARTS, "second": "2026-11-23 00:30:15", "minute": "2026-11-23 00:30:00"}
IN_BERLIN |= dict.fromkeys(("hour", "day", "week"), "2026-11-23 00:00:00")


def clock(value: Any) -> str:
    """What an engine gives for a date or a time, without its zone."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value.split(".")[0])
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        return f"{value} 00:00:00"
    return f"{value:%Y-%m-%d %H:%M:%S}"


async def test_a_time_bucket_is_the_start_of_its_unit(engine: tuple[str, Query]) -> None:
    """Of every unit; a week begins on Monday, and the day of a zone where the engine knows zones.

    Red when sqlite's week loses its six days, or mysql's quarter its `- 1`. (MariaDB knows zones by name only where
    its tables of them are filled, so it is asked by an offset.)
    """
    dialect, query = engine
    rules = DIALECTS[dialect]
    kind = {"sqlite": "text", "clickhouse": "DateTime"}.get(dialect, "datetime" if "m" in dialect else "timestamp")
    column = f"cast('{STARTS['second']}' as {kind})"
    for unit, start in STARTS.items():
        assert clock((await query(f"select {rules.trunc(unit, column)}"))[0][0]) == start, unit
    if rules.local_time:
        zone = "'+01:00'" if dialect in {"mysql", "mariadb"} else "'Europe/Berlin'"
        for unit, start in IN_BERLIN.items():
            assert clock((await query(f"select {rules.trunc(unit, column, zone)}"))[0][0]) == start, unit


async def test_what_else_dialects_write(engine: tuple[str, Query]) -> None:
    """Equality that knows NULL, the escape of ``like``, casts and JSON are SQL that the engine takes.

    Red for each when it is written as another dialect has it.
    """
    dialect, query = engine
    rules = DIALECTS[dialect]
    null = "cast(null as Nullable(UInt8))" if dialect == "clickhouse" else "null"
    equal = [rules.null_safe_equal.format(left=left, right=right) for left, right in ((null, null), ("1", null))]
    assert [bool(value) for value in (await query(f"select {', '.join(equal)}"))[0]] == [True, False]
    pattern = f"a{rules.like_escape}_".replace("\\", "\\\\")
    sql = f"select 'a_' like '{pattern}' {rules.like_escape_clause}, 'ab' like '{pattern}' {rules.like_escape_clause}"
    assert [bool(value) for value in (await query(sql))[0]] == [True, False]
    values = {
        "integer": "1",
        "decimal": "1",
        "boolean": "1",
        "date": "'2026-01-31'",
        "datetime": "'2026-01-31 10:00:00'",
    }
    values |= {"text": "'a'", "uuid": EXAMPLES["uuid"], "interval": "'1 day'"}
    for name, kind in rules.casts.items():
        await query(f"select cast({values[name]} as {kind})")
    await query("select " + rules.json_parameter.format(placeholder="""'{"a": 1}'"""))


@each_dialect
@pytest.mark.parametrize("unit", UNITS)
def test_a_time_bucket_is_one_operand(dialect: str, unit: str) -> None:
    """Beside another operator it stays what it is: a call, or in parentheses. Red without those of MySQL's week."""
    bucket = DIALECTS[dialect].trunc(unit, "a")
    inner = bucket
    while "(" in inner:
        inner = re.sub(r"\([^()]*\)", "", inner)
    assert re.fullmatch(r"\w*", inner), bucket


@pytest.mark.parametrize(
    ("dialect", "text", "params"),
    [
        ("tsql", "select top ({{ n }}) [a b] from t where c = N'x' order by a", (5,)),
        ("tsql", "select a from t order by a offset {{ n }} rows fetch next {{ n }} rows only", (5, 5)),
        (
            "bigquery",
            "select * from `p.d.t` where a = {{ n }} and b = r'\\d' qualify row_number() over (w) <= {{ n }}",
            (5, 5),
        ),
        ("bigquery", "select date_sub(day, interval {{ n }} day) from t for system_time as of {{ n }}", (5, 5)),
        ("clickhouse", "select * from t prewhere d > {{ n }} limit {{ n }} by a limit {{ n }}", (5, 5, 5)),
        ("snowflake", "select a:b, $1 from t at(timestamp => {{ n }}) sample (10) where c in (select 1)", (5,)),
        (
            "trino",
            "select date '2026-01-01', u from t cross join unnest(a) as x(u) where c = {{ n }} limit {{ n }}",
            (5, 5),
        ),
        ("databricks", "select * from t version as of {{ n }} where c = {{ n }}", (5, 5)),
        ("redshift", "select listagg(a, ',') within group (order by a) from #t where c = {{ n }}", (5,)),
    ],
)
def test_what_is_written_in_each_dialect(dialect: str, text: str, params: tuple[int, ...]) -> None:
    """Texts as they are written for each engine compile, and `{{ n }}` is a value there. Red e.g. without
    ``top_takes_value``."""
    bound = SQLTemplate(text, dialect).bind({"n": 5}, "qmark")  # a placeholder for each occurrence
    assert bound.params == params


@pytest.mark.parametrize(
    ("dialect", "text", "reason"),
    [
        ("tsql", "select top {{ n }} a from t", r"write `top \(\{\{ name \}\}\)`"),
        ("tsql", "exec sp_executesql {{ n }}", "exec runs a string"),
        ("tsql", "select * from openquery(s, 'select 1') where a = {{ n }}", "openquery.. runs a string"),
        *(
            ("tsql", f"select * from {name}('x') where a = {{{{ n }}}}", rf"{name[4:]}\(\) runs a string")
            for name in (
                *("sys.fn_trace_gettable", "sys.fn_xe_file_target_read_file", "sys.fn_get_audit_file"),
                *("sys.fn_get_audit_file_v2", "sys.fn_dump_dblog", "sys.dm_os_file_exists"),
                *("sys.dm_os_enumerate_filesystem", "sys.dm_exec_describe_first_result_set"),
            )
        ),
        ("snowflake", "select * from table({{ n }})", "would name a table"),
        ("snowflake", "select * from identifier({{ n }})", "identifier.. runs a string"),
        ("snowflake", "select a from t where b = {{ n }} limit ?", "takes this . for a placeholder"),
        ("clickhouse", "select a from t where b = {{ n }} settings readonly = 0", "`settings` clause"),
        ("clickhouse", "select * from file('x') where b = {{ n }}", "file.. runs a string"),
        ("clickhouse", "select * from \"fil\\x65\"('x') where b = {{ n }}", "a name in escapes"),
        ("clickhouse", "select {p: String}, {{ n }} + 1", "takes this . for a placeholder"),
        ("clickhouse", "select \u2018{{ n }}\u2019", "not allowed inside a quoted"),
        (
            "bigquery",
            "select * from external_query('c', 'select 1') where a = {{ n }}",
            "external_query.. runs",
        ),
        ("bigquery", "select @x, {{ n }} + 1", "takes this @ for a placeholder"),
        ("bigquery", "select r'{{ n }}'", "of the form R"),
        ("bigquery", "select '\\q {{ n }}'", "not known here"),
        ("databricks", "select reflect('java.lang.Runtime', {{ n }})", "reflect.. runs a string"),
        ("databricks", "select 'it''s {{ n }}'", "two adjacent literals"),
        ("bigquery", "select 'it''s {{ n }}'", "two adjacent literals"),
        (
            "trino",
            "select * from table(pg.system.query(query => 'select 1')) where a = {{ n }}",
            "query.. runs",
        ),
        (
            "trino",
            "select * from table(hive.system.table_changes('s', 't')) where a = {{ n }}",
            "table_changes.. runs",
        ),
        ("databricks", "select * from table_changes('t', 1) where a = {{ n }}", "table_changes.. runs"),
        ("redshift", "select $${{ n }}$$", "dollar-quoted string"),
    ],
)
def test_what_is_refused_in_each_dialect(dialect: str, text: str, reason: str) -> None:
    """What would name something, run a text or lift a limit. Red when its rule is taken out of the dialect's file."""
    with pytest.raises(TemplateError, match=reason):
        SQLTemplate(text, dialect).bind({"n": 5})


@pytest.mark.parametrize(
    ("dialect", "text", "value"),
    [
        ("bigquery", "'''it's {{ x }} \\n'''", "it's v \n"),
        ("bigquery", '"{{ x }}\'s"', "v's"),
        ("clickhouse", r"'it''s\t{{ x }} \% \_'", "it's\tv \\% \\_"),
        ("snowflake", r"'it''s \'{{ x }}\''", "it's 'v'"),
        ("redshift", r"'it''s \\{{ x }}'", "it's \\v"),
        ("databricks", r'"it\'s {{ x }}"', "it's v"),
        ("tsql", "'it''s \\{ {{ x }}'", "it's \\{ v"),
        ("trino", "'it''s \\ {{ x }}'", "it's \\ v"),
    ],
)
def test_a_string_with_a_variable_is_read_by_the_rules_of_its_dialect(dialect: str, text: str, value: str) -> None:
    """Escapes are undone as the dialect does. Red when its ``backslash_escapes`` or ``doubled_quotes`` change."""
    bound = SQLTemplate(f"select {text}", dialect).bind({"x": "v"})
    given = bound.params.values() if isinstance(bound.params, dict) else bound.params
    assert tuple(given or ()) == (value,)


@pytest.mark.parametrize("dialect", ["tsql", "databricks", "postgresql"])
def test_a_statement_has_as_many_placeholders_as_the_engine_takes(dialect: str) -> None:
    """One more is refused before the engine sees it. Red when the renderer takes the same limit for all."""
    most = DIALECTS[dialect].max_parameters
    template = SQLTemplate("select 1 where a = {{ a }} and b in {{ xs }}", dialect)
    assert template.bind({"a": 1, "xs": [1] * (most - 1)}).params
    with pytest.raises(UnbindableValue, match=f"at most {most} parameters"):
        template.bind({"a": 1, "xs": [1] * most})


def test_the_page_names_each_dialect_and_its_paramstyle() -> None:
    """docs/sql-dialects.md has a row for each dialect. Red when one is left out or has another paramstyle."""
    page = Path(__file__).parents[2] / "docs" / "sql-dialects.md"
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `(\w+)` \| [^|]+ \| [^|]+ \|$", page.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted((name, rules.paramstyle) for name, rules in DIALECTS.items())


def test_named_placeholders_with_an_at_sign() -> None:
    """``@p1`` as BigQuery's own client and SQL Server's clients want it. Red when the style is not ``named``."""
    bound = SQLTemplate("select 1 where a = {{ x }} and b in {{ xs }}").bind(
        {"x": 1, "xs": [2, 3]}, "named_at", dialect="bigquery"
    )
    assert bound.sql == "select 1 where a = @p1 and b in (@p2, @p3)"
    assert bound.params == {"p1": 1, "p2": 2, "p3": 3}
