"""Queries that the engines of their data sources explain: on real engines, and none of them is run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse_http import ClickHouseServer
from examples.own_engine import CSVDriver
from tenantry.datasources import DataSources
from tenantry.datasources.checks.engine_check import AskedQuery, EngineCheck, EngineReport
from tenantry.datasources.checks.query_plans import plan_prefix
from tenantry.datasources.checks.refused_queries import word_at
from tenantry.datasources.explanation import ExplainedQuery
from tenantry.errors import NotOneStatement
from tenantry.groups import UserGroup, freeze
from tenantry.sql import Query, SQLTemplate
from tests.datasources.clickhouse_cases import LIMITS
from tests.datasources.conftest import Directory, group, sqlite_file

CANARY = "c4n4ry-value"
GOOD = "select 1 as one where {{ region }} = 'x' [[ and 1 = {{ params.choice }} ]]"
ENDLESS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as v from n",
    "duckdb": "select count(*) as v from range(10000000) a, range(10000000) b where a.range * b.range = -1",
    "postgresql": "select pg_sleep(600) as v",
    "mariadb": "select sleep(600) as v",
    "clickhouse": "select count() as v from numbers(10000000000000) where sipHash64(number) = 1",
}


def member(name: str = "acme", source: str = "ds_1", **properties: Any) -> UserGroup:
    return replace(group(name, main=source), properties=freeze(properties))


def asked(text: str, file: str = "a.sql", schema: str = "main") -> AskedQuery:
    query = Query(text, file.partition(".")[0], file=file)
    return AskedQuery(file, query.declaring({"choice": {"type": "integer", "default": 3}}), schema)


async def check(
    sources: DataSources, directory: Directory, groups: list[UserGroup], *queries: AskedQuery
) -> EngineReport:
    checked = EngineCheck(queries, directory.registered)
    for each in groups:
        checked.add(each)
    return await checked.run(sources)


async def looked_at(engine: str, sources: DataSources, directory: Directory) -> None:
    queries = [
        asked(GOOD, "good.sql"),
        asked(ENDLESS[engine], "endless.sql")._replace(names=True),
        asked("select 1 as one, 1 as one;", "twice.sql")._replace(names=True),
        asked("select 1 as one\nfrom nowhere\nwhere region = {{ region }}", "bad.sql"),
        asked("delete from orders", "writes.sql"),
        asked("show tables", "other.sql") if engine != "sqlite" else asked("explain select 1", "other.sql"),
    ]
    report = await check(sources, directory, [member(region=CANARY)], *queries)
    assert report.explained == {"good.sql", "endless.sql", "twice.sql"}
    named = {query.file: dict(found) for query, found in report.columns.items()}
    says = "data source own_1, for acme"
    if engine in {"sqlite", "duckdb"}:  # they call the second one in another way
        assert set(named.pop("twice.sql")) == {says}
        assert report.unnamed == set()
    else:
        assert report.unnamed == (
            {"twice.sql", "endless.sql"} if engine in {"mariadb", "clickhouse"} else {"twice.sql"}
        )
    assert named == ({"endless.sql": {says: ("v",)}} if engine not in {"mariadb", "clickhouse"} else {})
    assert list(report.engines.values()) == [{"other.sql"}]
    assert report.unasked == set()
    assert [(file, found.code) for file, found in report.findings] == [
        ("bad.sql", "query-refused"),
        ("writes.sql", "query-refused"),
    ]
    assert "begins with `delete`, which writes" in report.findings[1][1].message
    assert "own_1, for acme" in report.findings[0][1].message
    assert CANARY not in str(report)


async def test_an_engine_explains_and_runs_nothing(each_engine: str, directory: Directory, open_sources) -> None:
    """What could never end is explained, what asks a table that is not there is refused, and no message holds a value.
    Nor is the endless one run for the names of its columns. Red when ``PlanTemplate`` runs the query itself, and when
    ``SchemaQuery`` gives its text as it is: the endless one meets the timeout."""
    await looked_at(each_engine, open_sources(timeout=20, connect_timeout=120), directory)


async def test_rows_that_share_a_place_are_counted(each_engine: str, directory: Directory, open_sources) -> None:
    """On each engine whose names can be quoted; a row without a place shares none. Red when the rows are counted over
    all columns, or the empty places count."""
    text = "select 1 as day, 'a' as kind, 5 as n union all select 1, 'a', 6 union all select 1, 'b', 7"
    nothing = " union all select null, 'c', 8 union all select null, 'c', 9"
    queries = [
        asked(text + nothing, f"{len(place)}.sql")._replace(unique_by=place)
        for place in (("day",), ("day", "kind"), ("day", "kind", "n"), ())
    ]
    report = await check(open_sources(timeout=20, connect_timeout=120), directory, [member()], *queries)
    assert report.findings == ()
    says = "data source own_1, for acme"
    assert {query.file: dict(found) for query, found in report.repeated.items()} == {
        "1.sql": {says: 3},
        "2.sql": {says: 2},
    }


REQUIRED = """select {column} as v from (select cast('2026-01-02' as date) as day, 'a' as name) t
where name = {{{{ params.name }}}} and {{{{ params.period | within(day) }}}}"""
CHOICES = {
    "since": {"type": "date"},
    "name": {"type": "text", "required": True},
    "period": {"type": "date range", "min": "2026-01-01"},
}


def chosen(text: str, file: str) -> AskedQuery:
    return AskedQuery(file, Query(text, file=file).declaring(CHOICES), "main", names=True)


async def test_a_query_that_waits_for_a_choice_is_explained_with_a_sample(
    each_engine: str, directory: Directory, open_sources
) -> None:
    """Behind a required parameter and in optional parts, with the names of its columns. A text that fits no column of
    its type says nothing against the query. Red with the group's variables alone: the queries were not asked about."""
    queries = [
        chosen(REQUIRED.format(column="day"), "good.sql"),
        chosen(REQUIRED.format(column="dya"), "required.sql"),
        chosen("select 1 as v [[ where mising = {{ params.since }} ]]", "optional.sql"),
        chosen(
            "select 1 as v from (select cast('2026-01-02' as date) as day) t where day = {{ params.name }}", "day.sql"
        ),
    ]
    report = await check(open_sources(timeout=20, connect_timeout=120), directory, [member()], *queries)
    found = {file: finding.message.partition("(data source ")[2] for file, finding in report.findings}
    assert found == {
        "required.sql": "own_1, for acme, with a sample of name and period)",
        "optional.sql": "own_1, for acme, with a sample of since)",
    }
    assert report.unasked == set()
    assert "good.sql" in report.explained


async def test_clickhouse_explains(clickhouse_server: ClickHouseServer, directory: Directory, open_sources) -> None:
    """The same, over HTTP."""
    directory.add(1, clickhouse_server.url("default"))
    await looked_at("clickhouse", open_sources(**LIMITS | {"timeout": 20}), directory)


async def test_a_refusal_of_postgresql_is_located(postgres, directory: Directory, open_sources) -> None:
    """At the word that the server names, where it stands once. Red when the length of `explain ` is not taken off."""
    postgres.execute("create table orders (id int, region text)", url=(url := postgres.create_database()))
    directory.add(1, url)
    text = "-- the rows of a region\nselect id\nfrom orders\nwhere reigon = {{ region }} and id > {{ params.choice }}"
    report = await check(open_sources(connect_timeout=120), directory, [member(region="eu")], asked(text))
    ((file, found),) = report.findings
    assert (file, found.line, found.column) == ("a.sql", 4, 7)
    assert "UndefinedColumn (SQLSTATE 42703), at reigon (data source own_1, for acme)" in found.message


async def test_a_group_that_lacks_something_is_not_asked_about(tmp_path: Path, directory: Directory, open_sources):
    """The next one is, once. Red when the first group stands for all."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    groups = [member("without"), member("first", region="eu"), member("second", region="eu")]
    queries = [
        asked("select missing from orders where region = {{ region }}"),
        asked("select 1 as one where {{ other }} = 1", "b.sql"),
    ]
    queries.append(asked("select 1", "c.sql", "elsewhere"))
    report = await check(open_sources(), directory, groups, *queries)
    ((_, found),) = report.findings
    assert found.message == (
        "the data source refuses the query: SQLITE_ERROR (no such column), at missing (data source own_1, for first)"
    )
    assert report.unasked == {"b.sql", "c.sql"}


async def test_session_variables_are_what_a_group_needs_too(postgres, directory: Directory, open_sources) -> None:
    """A group without them gets no query, so that no query is explained for it. Red without the session variables of
    ``_can_ask``: the first group is asked about, and the finding says what it lacks."""
    url = postgres.create_database()
    postgres.execute("drop role if exists check_reader; create role check_reader login password 'x'", url=url)
    reader = url.replace("postgres@", "check_reader:x@")
    directory.add(1, reader, session=(("app.tenant", "{{ user_group.properties.tenant }}"),))
    groups = [member("without"), member("with", tenant="t")]
    report = await check(open_sources(connect_timeout=120), directory, groups, asked("select 1 as one"))
    assert (report.findings, report.explained) == ((), {"a.sql"})


async def test_sources_that_say_the_same_are_one_finding(tmp_path: Path, directory: Directory, open_sources) -> None:
    """Each is asked once for each text, also where two dashboards ask it. One that cannot be reached is a finding of
    its own, and ends nothing else."""
    for number in (1, 2):
        directory.add(number, sqlite_file(tmp_path / f"{number}.db", "acme"))
    directory.add(3, f"sqlite:///{tmp_path / 'missing' / 'secret.db'}")
    sources = open_sources()
    groups = [member(f"g{number}", f"own_{number}", region="eu") for number in (1, 2, 3)]
    queries = [asked("select missing from orders"), asked("select id from orders", "b.sql")]
    report = await check(sources, directory, groups, *queries, asked("select id from orders", "b.sql"))
    assert [(file, found.code) for file, found in report.findings] == [
        ("a.sql", "query-refused"),
        ("data source own_3", "source-unreachable"),
    ]
    assert "(data source own_1, for g1; data source own_2, for g2)" in report.findings[0][1].message
    assert "secret" not in str(report.findings)
    assert report.explained == {"b.sql"}


async def test_an_engine_that_explains_nothing_is_counted(tmp_path: Path, directory: Directory) -> None:
    """One of the host's own."""
    directory.add(1, f"csv://{tmp_path / 'orders.csv'}")
    async with DataSources(directory, engines={"csv": CSVDriver}) as sources:
        report = await check(sources, directory, [member(region="eu")], asked("select id from orders"))
    assert (report.findings, report.explained, report.engines) == ((), set(), {"csv": {"a.sql"}})


@pytest.mark.parametrize("engine", ["postgresql", "postgres", "mysql", "duckdb", "clickhouse", "sqlite"])
def test_nothing_that_could_be_an_option_of_explain_is_explained(engine: str) -> None:
    """`analyze` would run the query. Red when a text is explained whatever it begins with, and when DuckDB explains a
    pivot, whose rows it would read."""
    for text in ("analyze select 1", "(analyze) select 1", "/* a */ (analyze, costs) select 1", "update t set a = 1"):
        with pytest.raises(NotOneStatement):
            plan_prefix(_bound(engine, text))
    pivots = ("select a from (PIVOT t on b using sum(c))", "from (pivot_wider t on b)") if engine == "duckdb" else ()
    for text in ("show tables", "explain select 1", *pivots):
        assert plan_prefix(_bound(engine, text)) is None
    assert plan_prefix(_bound(engine, "(select 1) union (select 2)"))


def test_positions_of_engines_count_from_one() -> None:
    """0 stands for none. Red when the first word of a query was not found."""
    assert [word_at('select "a b" from t', position) for position in (0, 1, 8, 14, 19)] == [
        "",
        "select",
        "a",
        "from",
        "t",
    ]


def _bound(engine: str, text: str) -> ExplainedQuery:
    traced = SQLTemplate(text).trace({}, "numeric_dollar", dialect="postgresql", now=datetime.now(UTC))
    return ExplainedQuery("ds_1", "own_1", engine, traced, None)
