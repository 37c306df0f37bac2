"""A dashboard of twelve charts of 100,000 rows each: the rows that its plots show, all panels at once, as lines.

Wall time from the request to the last line. ``again`` is for a process that knows how many rows the charts have and
keeps none of them. MariaDB has no aim, since its driver is written in Python.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.harness import engines, points
from benchmarks.harness.one_source import OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.dashboards.charts.chart_rows import ChartRows
from tenantry.dashboards.folder import DashboardFolder, SavedDashboard
from tenantry.dashboards.panels.panel_runner import PanelRunner
from tenantry.dashboards.protocol.answer_budget import answer_budget
from tenantry.dashboards.protocol.panel_request import WantedPanel
from tenantry.datasources import Limits, ResultCache

ROUNDS = 5
PATIENCE = 60.0
"""Seconds for a turn: twelve charts of 100,000 rows are more than five connections to MariaDB give in five."""
WIDTH = 1_280
"""Device pixels that a page asks for a chart on half of a wide screen."""


class _Engine(NamedTuple):
    """``start`` makes its points and gives its URL; it may raise EngineMissing. ``aim``: milliseconds of ``again``."""

    name: str
    start: Callable[[ExitStack], str]
    aim: float | None


class _Found(NamedTuple):
    """Milliseconds; and rows that were sent."""

    first: float
    again: float
    kept: float
    rows: int


def table() -> Table:
    """Runs it. An engine that this machine does not have is left out, and a row says so."""
    heads = ["engine", "rows read", "rows sent", "ms, first", "ms, again", "ms, cached"]
    result = Table(f"A dashboard of {points.CHARTS} charts of {points.ROWS:,} rows each, wall time", heads)
    for engine in ENGINES:
        with ExitStack() as stack:
            saved = _dashboard(_folder(stack))
            try:
                url = engine.start(stack)
            except engines.EngineMissing as missing:
                result.add(f"{engine.name}: skipped: {missing}", "", "", "", "", "")
                continue
            found = asyncio.run(_measure(url, saved))
        every = f"{points.CHARTS * points.ROWS:,}"
        times = (f"{each:,.0f}" for each in (found.first, found.again, found.kept))
        result.add(engine.name, every, f"{found.rows:,}", *times)
        if engine.aim is not None:
            result.aims.append(Aim(f"{engine.name}, ms again", found.again, engine.aim))
    return result


def _dashboard(folder: Path) -> SavedDashboard:
    queries = [{"sql": points.chart_sql(chart)} for chart in range(points.CHARTS)]
    charts = [{"line": "level", "by": "moment", "query": query} for query in queries]
    document = {"title": "Load", "rows": [charts[at : at + 2] for at in range(0, len(charts), 2)]}
    (folder / "load.json").write_text(json.dumps(document))
    return DashboardFolder(folder)["load"]


async def _measure(url: str, saved: SavedDashboard) -> _Found:
    async with DataSources(OneSource(url), limits=Limits(connect_timeout=PATIENCE)) as sources:
        charts = ChartRows(sources)
        first, rows = await _view(saved, sources, charts)
        again = [(await _view(saved, sources, charts))[0] for _ in range(ROUNDS)]
    cache = ResultCache(seconds=3_600, max_bytes=1 << 30)
    async with DataSources(OneSource(url), cache=cache, limits=Limits(connect_timeout=PATIENCE)) as sources:
        charts = ChartRows(sources)
        await _view(saved, sources, charts)
        kept = [(await _view(saved, sources, charts))[0] for _ in range(ROUNDS)]
    return _Found(first, statistics.median(again), statistics.median(kept), rows)


async def _view(saved: SavedDashboard, sources: DataSources, charts: ChartRows) -> tuple[float, int]:
    """Milliseconds until all panels are there, and their rows."""
    runner = PanelRunner(saved, group(), sources, charts, {})
    start = perf_counter()
    async with answer_budget().open(group()) as answer:
        lines = await asyncio.gather(
            *(runner.panel(panel, WantedPanel(id=panel.id, width=WIDTH), answer) for panel in saved.dashboard.panels)
        )
    seconds = perf_counter() - start
    answers = [json.loads(b"".join(line.pieces)) for line in lines]
    assert all(answer.get("reduced") for answer in answers), [answer.get("error") for answer in answers]
    return seconds * 1e3, sum(len(answer["rows"]) for answer in answers)


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _postgresql(stack: ExitStack) -> str:
    url = stack.enter_context(engines.postgres())
    points.fill_postgresql(url)
    return url


def _mariadb(stack: ExitStack) -> str:
    url = stack.enter_context(engines.mariadb())
    points.fill_mariadb(url)
    return url


ENGINES = (
    _Engine("DuckDB", lambda stack: points.fill_duckdb(_folder(stack) / "points"), 1_000),
    _Engine("SQLite", lambda stack: points.fill_sqlite(_folder(stack) / "points"), 1_500),
    _Engine("PostgreSQL", _postgresql, 1_500),
    _Engine("MariaDB", _mariadb, None),
)
