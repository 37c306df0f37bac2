"""The rows of a chart of many points: how often a source is asked for them, and who gets them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from engines.postgres import Postgres
from tenantry.dashboards.charts.chart_rows import ChartRows
from tenantry.dashboards.charts.m4 import Plot
from tenantry.datasources import DataSources, ResultCache, StreamLimits
from tenantry.datasources.results import Result
from tenantry.errors import QueryFailed, TooManyRows
from tenantry.groups import UserGroup, extend
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources, executed, stopped

POINTS = 2_000
LIMIT = 500
PLOT = Plot("n", ("v",), None, 20)
TEMPLATE = SQLTemplate(
    "select n, v, owner from points where owner = {{ region }} [[ and n < {{ params.least }} ]] order by n"
)
ENGINES = ("sqlite", "duckdb", "postgresql")


def fill(engine: str, folder: Path, postgres: Postgres | None = None) -> str:
    """Create a database with the points, and return its URL."""
    numbers = f"with recursive m(n) as (select 0 union all select n + 1 from m where n < {POINTS - 1})"
    table = (
        f"create table points as {numbers} select n, n * 7 % 101 as v, owner "
        "from m cross join (select 'acme' as owner union all select 'other') owners"
    )
    if engine == "postgresql":
        assert postgres is not None
        url = postgres.create_database()
        postgres.execute(table, url=url)
        return url
    path = folder / engine
    connection: Any = duckdb.connect(str(path)) if engine == "duckdb" else sqlite3.connect(path)
    with closing(connection):
        connection.execute(table)
        connection.commit()
    return f"{engine}:///{path}"


class Charts:
    """The requests of a page."""

    def __init__(self, sources: DataSources) -> None:
        self.sources = sources
        self.rows = ChartRows(sources)

    @property
    def executed(self) -> int:
        return executed(self.sources)

    async def fetch(
        self,
        asking: UserGroup | None = None,
        plot: Plot = PLOT,
        template: SQLTemplate = TEMPLATE,
        params: dict[str, Any] | None = None,
    ) -> tuple[Result, bool]:
        asking = asking or group(main="ds_1")
        given = extend(asking.variables, "params", params or {"least": None})
        async with asyncio.timeout(120):
            return await self.rows.fetch(asking, "main", template, given, plot, None, datetime.now(UTC))


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of the points, on each engine."""
    postgres = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    return fill(request.param, tmp_path, postgres)


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[Charts]:
    directory = Directory()
    directory.add(1, url)
    async with data_sources(directory, row_limit=LIMIT, **{"connect_timeout": 60.0, **options}) as sources:
        yield Charts(sources)


async def test_what_gave_too_many_rows_is_not_asked_for_all_of_them_again(url: str) -> None:
    """Red when the size is not remembered: then each request costs as much as the first."""
    async with opened(url) as charts:
        first, is_reduced = await charts.fetch()
        assert is_reduced
        assert charts.executed == 2
        assert (await charts.fetch())[0].rows == first.rows
        assert charts.executed == 3
        assert 40 < len(first) <= 4 * PLOT.columns
        assert first.names == ("n", "v", "owner")
        fewer, _ = await charts.fetch(params={"least": 30})
        assert [row[0] for row in fewer.rows] == [*range(30)], "within the columns of the plot: all of them"
        none, _ = await charts.fetch(params={"least": 0})
        assert (none.names, len(none)) == (first.names, 0)


async def test_a_line_with_zeros_keeps_its_rows(tmp_path: Path) -> None:
    """Within the row limit, a page gets all rows and so knows which buckets are missing; beyond it, it is told that
    they are reduced. Red when 0 was drawn for no bucket of a line of many rows."""
    filled = replace(PLOT, filled=True)
    async with opened(fill("sqlite", tmp_path)) as charts:
        rows, is_reduced = await charts.fetch(plot=filled, params={"least": LIMIT})
        assert (len(rows), is_reduced) == (LIMIT, False)
        assert len((await charts.fetch(params={"least": LIMIT}))[0]) < LIMIT
        _, is_reduced = await charts.fetch(plot=filled)
        assert is_reduced


async def test_another_group_is_known_by_its_own_rows(url: str) -> None:
    """The size of one group's result says nothing about another's. Red when the key has no group."""
    async with opened(url) as charts:
        await charts.fetch()
        small = replace(group("nobody", main="ds_1"), handle=b"87654321")
        before = charts.executed
        rows, is_reduced = await charts.fetch(small)
        assert (len(rows), is_reduced) == (0, False)
        assert charts.executed == before + 1, "plainly"


async def test_chosen_rows_are_kept_for_their_group_width_and_filters(url: str) -> None:
    """Reduced rows are cached by SQL, values, group and plot. Red when the key has no width, or no group: the other
    group got the first one's rows."""
    async with opened(url, cache=ResultCache(seconds=3_600)) as charts:
        first, _ = await charts.fetch()
        before = charts.executed
        again, _ = await charts.fetch()
        assert (again.rows, charts.executed) == (first.rows, before)
        assert again.as_of == first.as_of is not None
        wider, _ = await charts.fetch(plot=replace(PLOT, width=40))
        assert (len(wider) > len(first), charts.executed) == (True, before + 1)
        fewer, _ = await charts.fetch(params={"least": 1_000})
        assert (fewer.rows[-1][0], charts.executed) == (999, before + 2)
        other = replace(group("other", main="ds_1"), handle=b"87654321")
        theirs, _ = await charts.fetch(other)
        assert {row[2] for row in theirs.rows} == {"other"}
        assert {row[2] for row in first.rows} == {"acme"}


async def test_equal_charts_at_once_are_one_reading(url: str) -> None:
    """Red when streamed reductions are not shared in flight."""
    async with opened(url) as charts:
        await charts.fetch()
        before = charts.executed
        await asyncio.gather(*(charts.fetch() for _ in range(20)))
        assert charts.executed == before + 1


async def test_rows_without_an_order_are_too_many(url: str) -> None:
    """They are not reducible, but fewer of them are shown. Red when a query stays marked as large: a chart that was too
    large once would stay so."""
    template = SQLTemplate(TEMPLATE.text.replace("order by n", "order by v"))
    async with opened(url) as charts:
        for _ in range(2):
            with pytest.raises(TooManyRows, match=r"more than 500 rows.*ORDER BY n"):
                await charts.fetch(template=template)
        rows, _ = await charts.fetch(template=template, params={"least": 300})
        assert len(rows) == 300


OF_DUCKDB = {
    "times as text": "select (date '2026-01-01' + n)::text as n, v from points where owner = {{ region }} order by n",
    "SQL of a text": "select n, v from query('select * from points order by n')",
}


@pytest.mark.parametrize("kind", OF_DUCKDB)
async def test_rows_of_other_shapes_are_reduced_too(kind: str, tmp_path: Path) -> None:
    """Times as strings have positions, and inline SQL has no values of the viewer. Red when its error is the
    viewer's."""
    template = SQLTemplate(OF_DUCKDB[kind])
    async with opened(fill("duckdb", tmp_path)) as charts:
        first, is_reduced = await charts.fetch(template=template)
        assert (is_reduced, 40 < len(first) <= 4 * PLOT.columns) == (True, True)
        before = charts.executed
        assert (await charts.fetch(template=template))[0].rows == first.rows
        assert charts.executed == before + 1


async def test_a_mistake_in_the_query_is_the_authors(url: str) -> None:
    """It is an error of the query, reduced or not."""
    async with opened(url) as charts:
        with pytest.raises(QueryFailed):
            await charts.fetch(template=SQLTemplate("select nothing from points"))


async def test_rows_that_are_reduced_have_a_limit_of_their_own(tmp_path: Path) -> None:
    """The limit of streams applies."""
    async with opened(fill("sqlite", tmp_path), stream=StreamLimits(row_limit=POINTS - 1)) as charts:
        with pytest.raises(TooManyRows, match="more than 1999 rows"):
            await charts.fetch()


async def test_the_author_hears_of_the_order_as_soon_as_rows_are_thinned(tmp_path: Path) -> None:
    """Unsorted rows may have no end. Red when all are read first."""
    numbers = "with recursive m(n) as (select 0 union all select n + 1 from m) select n % 7 as n, n as v from m"
    async with opened(fill("sqlite", tmp_path), max_bytes=100_000) as charts:
        with pytest.raises(TooManyRows, match="ORDER BY n"):
            await charts.fetch(template=SQLTemplate(numbers))


async def test_a_kept_result_is_reduced_once_for_each_of_a_few_widths(tmp_path: Path) -> None:
    """Requests choose the width. Red when no reduction is kept, and when all are: one viewer could request 3,840 of
    each."""
    async with opened(fill("sqlite", tmp_path), cache=ResultCache(seconds=3_600)) as charts:
        result = await charts.rows._sources.query(
            group(main="ds_1"), "main", TEMPLATE, extend(group(main="ds_1").variables, "params", {"least": 400})
        )
        reduced = charts.rows._reduced
        first = await reduced(result, PLOT)
        assert await reduced(result, PLOT) is first is not None
        assert await reduced(result, replace(PLOT, width=40)) is not first
        for width in range(41, 80):
            await reduced(result, replace(PLOT, width=width))
        assert await reduced(result, PLOT) is not first


async def test_a_reading_that_nobody_waits_for_is_stopped(tmp_path: Path) -> None:
    """Red when the rows are read to the end: the source would be busy until its limit."""
    endless = "with recursive m(n) as (select 0 union all select n + 1 from m) select n, n as v from m order by +n"
    template = SQLTemplate(endless)
    async with opened(fill("sqlite", tmp_path)) as charts:
        await charts.fetch()
        charts.rows._large[group(main="ds_1").handle, "main", template] = True
        task = asyncio.ensure_future(charts.fetch(template=template))
        while charts.sources.activity.sources["ds_1"].running == 0:
            assert not task.done(), "it ended by itself"
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(120):
            await charts.sources.aclose()
        assert stopped(charts.sources) == 1
