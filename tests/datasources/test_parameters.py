"""Declared parameters on real engines, through their sources: the same rows everywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.errors import InvalidParameter
from tenantry.groups import extend
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.databases import create_database

ENGINES = ("postgresql", "sqlite", "duckdb", "mariadb")
UNIQUE = "6f9619ff-8b86-d011-b42d-00c04fc964f"
ROWS = [
    # In Vienna: the last second of April, the first of May, one between, the last of May, the first of June.
    (0, "2026-04-30", "2026-04-30 21:59:59", "0.5", f"{UNIQUE}0", "true"),
    (1, "2026-04-30", "2026-04-30 22:00:00", "1.5", f"{UNIQUE}1", "false"),
    (2, "2026-05-15", "2026-05-15 12:00:00", "2.5", f"{UNIQUE}2", "true"),
    (3, "2026-05-31", "2026-05-31 21:59:59", "10.5", f"{UNIQUE}3", "false"),
    (4, "2026-05-31", "2026-05-31 22:00:00", "3.0", f"{UNIQUE}4", "true"),
]
TYPES = {
    "postgresql": ("timestamp", "timestamptz", "numeric(9, 2)", "uuid"),
    "sqlite": ("timestamp", "timestamp", "numeric", "text"),
    "duckdb": ("timestamp", "timestamptz", "decimal(9, 2)", "uuid"),
    "mariadb": ("datetime", "datetime", "decimal(9, 2)", "char(36)"),
}

Ask = Callable[..., Awaitable[set[int]]]


def statements(engine: str) -> list[str]:
    clock, instant, number, unique = TYPES[engine]
    at_zero = "Z" if instant == "timestamptz" else ""
    table = f"day date, clock {clock}, instant {instant}, amount {number}, code {unique}, paid boolean"
    values = (
        f"({id_}, '{day}', '{clock}', '{clock}{at_zero}', {amount}, '{code}', {paid})"
        for id_, day, clock, amount, code, paid in ROWS
    )
    return [f"create table visits (id integer, {table})", f"insert into visits values {', '.join(values)}"]


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By engine, of those that were asked for."""
    return {"folder": str(tmp_path_factory.mktemp("visits"))}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def ask(engine: str, urls: dict[str, str], directory: Directory, open_sources: Any, request: Any) -> Ask:
    """The ids that a query gives for what a viewer sent."""
    if engine not in urls:
        urls[engine] = create_database(engine, statements(engine), Path(urls["folder"]), request)
    directory.add(1, urls[engine])
    sources = open_sources(timeout=30, connect_timeout=60)

    async def run(condition: str, params: Any, **sent: Any) -> set[int]:
        template = SQLTemplate(f"select id from visits where {condition}", params=params)
        asking = group(main="ds_1")
        rows = await sources.fetch(asking, "main", template, extend(asking.variables, "params", sent))
        return {row["id"] for row in rows}

    return run


VIENNA = "Europe/Vienna"
MAY = "2026-05-01..2026-05-31"


@pytest.mark.parametrize(
    ("definition", "condition", "sent", "ids"),
    [
        ("integer", "id = {{ params.x }}", "2", {2}),
        ("decimal", "amount > {{ params.x }}", "2.50", {3, 4}),
        ("boolean", "paid = {{ params.x }}", "no", {1, 3}),
        ("uuid", "code = {{ params.x }}", f"{UNIQUE}3".upper(), {3}),
        ("date", "day >= {{ params.x }}", "2026-05-15", {2, 3, 4}),
        ("date", "clock >= {{ params.x }}", "2026-05-15", {2, 3, 4}),
        ("list of date", "day in {{ params.x }}", ["2026-05-15", "2026-04-30"], {0, 1, 2}),
        ("list of uuid", "code in {{ params.x }}", [f"{UNIQUE}3", f"{UNIQUE}0"], {0, 3}),
        ("list of decimal", "amount in {{ params.x }}", "10.5", {3}),
        ("datetime", "clock >= {{ params.x }}", "2026-05-31T21:59:59Z", {3, 4}),
        ("datetime", "instant >= {{ params.x }}", "2026-05-31T21:59:59Z", {3, 4}),
        ({"type": "datetime", "zone": VIENNA}, "clock >= {{ params.x }}", "2026-06-01T00:00", {4}),
        ({"type": "datetime", "zone": VIENNA}, "instant >= {{ params.x }}", "2026-06-01T00:00", {4}),
        ({"type": "datetime", "zone": VIENNA}, "instant = {{ params.x }}", "2026-06-01 00:00", {4}),
    ],
)
async def test_one_value(ask: Ask, definition: Any, condition: str, sent: Any, ids: set[int]) -> None:
    """Red on SQLite and MariaDB when values are not given as their drivers take them, and on PostgreSQL for a column
    without a zone when an instant is not taken to UTC."""
    assert await ask(condition, {"x": definition}, x=sent) == ids


@pytest.mark.parametrize(
    ("definition", "column", "sent", "ids"),
    [
        ("date range", "day", MAY, {2, 3, 4}),
        ("date range", "clock", MAY, {2, 3, 4}),
        ("date range", "day", "2026-05-31..2026-05-31", {3, 4}),
        ("date range", "clock", "2026-05-31..2026-05-31", {3, 4}),
        ("datetime range", "clock", MAY, {2, 3, 4}),
        ("datetime range", "instant", MAY, {2, 3, 4}),
        ({"type": "datetime range", "zone": VIENNA}, "clock", MAY, {1, 2, 3}),
        ({"type": "datetime range", "zone": VIENNA}, "instant", MAY, {1, 2, 3}),
        ({"type": "datetime range", "zone": VIENNA}, "clock", "2026-05-01T00:00..2026-05-15T14:00", {1}),
        ({"type": "relative range", "zone": VIENNA}, "instant", "last 9000 days", {0, 1, 2, 3, 4}),
    ],
)
async def test_a_range(ask: Ask, definition: Any, column: str, sent: str, ids: set[int]) -> None:
    """The last day is in it, also where the column has a time; midnight is that of the zone. (The clock of the machine
    is that of a data source, so the relative range is a long one.)"""
    condition = f"{column} >= {{{{ params.x.start }}}} and {column} < {{{{ params.x.end }}}}"
    assert await ask(condition, {"x": definition}, x=sent) == ids


async def test_an_interval(ask: Ask, engine: str) -> None:
    """A length of time where the engine has such a type, else seconds."""
    condition = {
        "postgresql": "clock >= timestamp '2026-05-31 22:00:00' - cast({{ params.x }} as interval)",
        "sqlite": "unixepoch(clock) >= unixepoch('2026-05-31 22:00:00') - {{ params.x }}",
        "mariadb": "clock >= timestamp '2026-05-31 22:00:00' - interval {{ params.x }} second",
    }.get(engine, "clock >= timestamp '2026-05-31 22:00:00' - {{ params.x }}")
    assert await ask(condition, {"x": "interval"}, x="1 minute") == {3, 4}
    assert await ask(condition, {"x": "interval"}, x="PT0S") == {4}


async def test_a_value_that_does_not_fit_never_reaches_the_engine(ask: Ask) -> None:
    """It would be an error of the database, as a 502."""
    with pytest.raises(InvalidParameter):
        await ask("id = {{ params.x }}", {"x": "integer"}, x="1 or 1 = 1")
