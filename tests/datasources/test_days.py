"""Days, and what is excluded, on real engines: the same rows everywhere, to the end of the day, and those with NULL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse_http import ClickHouseServer
from engines.samples import sampled
from tenantry.groups import extend
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.databases import create_database

ROWS = [
    (0, "2026-05-14 23:59:59.9", "2026-05-14", "eu"),
    (1, "2026-05-15 00:00:00.0", "2026-05-15", "us"),
    (2, "2026-05-15 12:00:00.0", "2026-05-15", None),
    (3, "2026-05-15 23:59:59.9", "2026-05-15", "eu_x"),
    (4, "2026-05-16 00:00:00.0", "2026-05-16", "eu"),
    (5, None, None, None),
]
ALL = {0, 1, 2, 3, 4, 5}
CLOCKS = {"postgresql": "timestamp", "sqlite": "timestamp", "duckdb": "timestamp", "mariadb": "datetime(6)"}

Ask = Callable[..., Awaitable[set[int]]]


def statements(clock: str, day: str, text: str, end: str = "") -> list[str]:
    rows = (f"({', '.join('null' if each is None else repr(each) for each in row)})" for row in ROWS)
    return [
        f"create table moments (id integer, clock {clock}, day {day}, region {text}){end}",
        f"insert into moments values {', '.join(rows)}",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("moments")


@pytest.fixture(scope="module", params=[*CLOCKS, "clickhouse"])
def url(request: pytest.FixtureRequest, folder: Path) -> str:
    """A source with the table."""
    engine: str = request.param
    if engine == "clickhouse":
        clickhouse: ClickHouseServer = request.getfixturevalue("clickhouse_server")
        clickhouse.execute("drop table if exists moments")
        types = ("Nullable(DateTime64(6))", "Nullable(Date)", "Nullable(String)", " engine = MergeTree order by id")
        for sql in statements(*types):
            clickhouse.execute(sql)
        return clickhouse.url("default")
    return create_database(engine, statements(CLOCKS[engine], "date", "varchar(9)"), folder, request)


@pytest.fixture
def ask(url: str, directory: Directory, open_sources: Any) -> Ask:
    """The ids that a condition gives for what a viewer sent."""
    directory.add(1, url)
    sources = open_sources(timeout=60, connect_timeout=120)

    async def run(condition: str, definition: Any, sent: Any) -> set[int]:
        template = SQLTemplate(f"select id from moments where {condition}", params={"x": definition})
        asking = group(main="ds_1")
        rows = await sources.fetch(asking, "main", template, extend(asking.variables, "params", {"x": sent}))
        return {row["id"] for row in rows}

    return run


FIFTEENTH = "2026-05-15"


@sampled(18)
@pytest.mark.parametrize(
    ("definition", "filter_", "sent", "ids"),
    [
        ("date", "matches", FIFTEENTH, {1, 2, 3}),
        ("date", "excludes", FIFTEENTH, {0, 4, 5}),
        ({"type": "date", "is_null": "none"}, "matches", FIFTEENTH, {1, 2, 3}),
        ({"type": "date", "is_null": "none"}, "excludes", "none", {0, 1, 2, 3, 4}),
        ("list of date", "matches", FIFTEENTH, {1, 2, 3}),
        ("list of date", "matches", ["2026-05-14", "2026-05-16"], {0, 4}),
        ("list of date", "excludes", ["2026-05-14", "2026-05-16"], {1, 2, 3, 5}),
        ("date range", "within", f"{FIFTEENTH}..{FIFTEENTH}", {1, 2, 3}),
        ("date range", "within", f"2026-05-14..{FIFTEENTH}", {0, 1, 2, 3}),
        ("date range", "matches", f"{FIFTEENTH}..2026-05-16", {1, 2, 3, 4}),
        ("date range", "excludes", f"{FIFTEENTH}..{FIFTEENTH}", {0, 4, 5}),
        ({"type": "date range", "open": "both"}, "within", f"..{FIFTEENTH}", {0, 1, 2, 3}),
        ({"type": "date range", "open": "both"}, "excludes", f"{FIFTEENTH}..", {0, 5}),
        ("date", "excludes", None, ALL),
    ],
)
async def test_a_day_ends_when_the_next_one_begins(
    ask: Ask, definition: Any, filter_: str, sent: Any, ids: set[int]
) -> None:
    """For a column of times and for one of dates. Red for the times when a date is compared with ``=`` or ``in``, or a
    range ends with its last midnight; red for 5 when what is excluded takes NULL with it."""
    for column in ("clock", "day"):
        assert await ask(f"{{{{ params.x | {filter_}({column}) }}}}", definition, sent) == ids, column


@pytest.mark.parametrize(
    ("definition", "sent", "ids"),
    [
        ("text", "eu", {0, 4}),
        ("list of text", ["eu", "us"], {0, 1, 4}),
        ("list of text", [], set()),
        ({"type": "text", "match": "prefix"}, "eu_", {3}),
        ({"type": "text", "is_null": "none"}, "none", {2, 5}),
        ({"type": "list of text", "is_null": "none"}, ["us", "none"], {1, 2, 5}),
        ({"type": "list of text", "is_null": "none"}, ["none"], {2, 5}),
    ],
)
async def test_excludes_is_the_rest(ask: Ask, definition: Any, sent: Any, ids: set[int]) -> None:
    """Each row is matched or excluded, and none is both. Red when ``excludes`` is ``not matches``: rows with NULL were
    neither."""
    assert await ask("{{ params.x | matches(region) }}", definition, sent) == ids
    assert await ask("{{ params.x | excludes(region) }}", definition, sent) == ALL - ids
    assert await ask("{{ params.x | excludes(region) }}", definition, None) == ALL
