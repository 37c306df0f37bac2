"""Runs, plans and files on each engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse_http import ClickHouseServer
from engines.postgres import Postgres
from tenantry.datasources import Enforcement, Limits, ReadOnlyBy
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.groups import GroupChanges, RegisteredSource, SourceDraft
from tests.dashboards.served import flights_database
from tests.datasources.databases import create_database
from tests.editor.served import ENVIRONMENT, served_editor

ENGINES = ("sqlite", "duckdb", "postgresql", "mariadb", "clickhouse")
LIMITS = Limits(row_limit=5_000, connect_timeout=60.0)
NUMBERS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000) select i from n",
    "duckdb": "select range + 1 as i from range(6000)",
    "postgresql": "select i from generate_series(1, 6000) i",
    "mariadb": "select seq as i from seq_1_to_6000",
    "clickhouse": "select toInt64(number + 1) as i from numbers(6000)",
}
PLANNED = {
    "sqlite": "SCAN orders",
    "duckdb": "Filters: owner",
    "postgresql": "Seq Scan on orders",
    "mariadb": "select_type",
    "clickhouse": "Filter column: owner",
}


def url_of(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    if engine == "clickhouse":
        server: ClickHouseServer = request.getfixturevalue("clickhouse_server")
        server.execute("create table if not exists orders (id Int64, owner String) engine = MergeTree order by id")
        return server.url("default").replace("/sales", "/default")
    made = ["create table orders (id integer, owner varchar(20))", "insert into orders values (1, 'HA'), (2, 'UA')"]
    return create_database(engine, made, folder, request, scheme="mariadb")


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_run_a_plan_and_a_file(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Exact numbers, rows that are cut at the limit, a plan that is read as text, and a file with all rows. Red for
    numbers that a double cannot hold, for a plan of which only the first column is shown, and for a driver that reads
    all rows before it gives the first."""
    url = url_of(engine, tmp_path, request)
    async with served_editor(tmp_path, url=url, limits=LIMITS) as site:
        body: dict[str, Any] = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
        exact = await site.lines("run", **body, text="select 9007199254740993 as a, {{ carrier }} as b")
        assert exact[-2] == {"rows": [["9007199254740993", "HA"]]}, exact
        (parameter,) = exact[0]["started"]["parameters"]
        assert (parameter["value"], parameter["origin"]) == ("HA", "property carrier")
        assert parameter["placeholder"] in exact[0]["started"]["sql"]
        cut = await site.lines("run", **body, text=NUMBERS[engine])
        assert cut[-1]["done"]["cut"] is True
        assert [row for line in cut for row in line.get("rows", ())] == [[number] for number in range(1, 5_001)]
        text = "select * from orders where owner = {{ carrier }}"
        assert PLANNED[engine] in (await site.ask("plan", **body, text=text))["text"]
        file = (await site.post("csv", **body, text=NUMBERS[engine])).text
        assert file.splitlines() == ["i", *map(str, range(1, 6_001))]


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_refused_name_is_underlined(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Red when the engine's driver does not read the name in its message."""
    async with served_editor(tmp_path, url=url_of(engine, tmp_path, request), limits=LIMITS) as site:
        body: dict[str, Any] = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
        for text in ("select o.absent from orders o", "select id from absent", "select id, absent(id) from orders"):
            error = (await site.lines("run", **body, text=text))[-1]["error"]
            assert text[error["from"] : error["to"]] == "absent", (text, error)


async def test_a_source_whose_url_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The password comes from the environment of the process, and neither it nor the host is in an answer. Red with the
    full message of the error."""
    monkeypatch.setenv("EDITOR_PASSWORD", "k3y-c4n4ry")
    async with served_editor(tmp_path) as site:
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        url = "postgresql://reader:${env:EDITOR_PASSWORD}@127.0.0.1:1/none"
        await site.store.sources.create(environment, "ds_far", SourceDraft("far", url))
        await site.store.groups.update(environment, "ha", GroupChanges(mapping={"main": "far"}))
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql", "text": "select 1 as a"}
        answer = await site.post("run", **body)
        assert "k3y-c4n4ry" not in answer.text
        assert '"source_unavailable"' in answer.text
        assert "127.0.0.1" not in answer.text


async def test_a_superuser_is_told_at_the_first_run(postgres: Postgres, tmp_path: Path) -> None:
    """The role is known when a connection is open. Red without ``role_warning``, and when only the notes before the run
    count."""
    async with served_editor(tmp_path, url=postgres.create_database(), limits=LIMITS) as site:
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql", "text": "select 1 as a"}
        for _ in range(2):
            lines = await site.lines("run", **body)
            (note,) = [line["started"] for line in lines if "started" in line][-1]["notes"]
            assert "connects as a superuser" in note
        assert ["started" in line for line in lines].count(True) == 1


async def test_a_database_of_the_engine_is_refused_with_a_reason(tmp_path: Path) -> None:
    """No name of the text is at fault. Red when a place is looked for."""
    async with served_editor(tmp_path, url="mariadb://root@127.0.0.1:1/mysql") as site:
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql", "text": "select user from user"}
        (line,) = await site.lines("run", **body)
        assert line["error"] == {
            "code": "private_name",
            "message": "authors may not query data source warehouse, because its URL names the system database mysql",
            "fix": "register a data source whose URL names the database with your tables",
        }


class Undeclared(SQLiteDriver):
    """A driver of a host program that does not say what keeps it from writing."""


class Declared(SQLiteDriver):
    enforcement = Enforcement(ReadOnlyBy.ENGINE)


@pytest.mark.parametrize(("driver", "warned"), [(Undeclared, True), (Declared, False)])
async def test_a_role_that_could_write_is_told(driver: type[SQLiteDriver], warned: bool, tmp_path: Path) -> None:
    """By the rule of ``tenantry data-source create``, also for engines of the host program. Red without ``notes``, and
    when only built-in engines are known."""
    file = flights_database(tmp_path / "own.db").removeprefix("sqlite:///")

    def make(source: RegisteredSource, limits: Limits) -> SQLiteDriver:
        return driver(replace(source, url=f"sqlite:///{file}"), limits)

    async with served_editor(tmp_path, url="own://host/own", engines={"own": make}) as site:
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql", "text": "select 1 as a"}
        started = (await site.lines("run", **body))[0]["started"]
        assert any("register a user who may only read" in note for note in started["notes"]) is warned
        assert started["engine"] == "own"
