"""What the server does for a page of twelve panels: compared with its queries alone, from the cache, and for a hundred
viewers of different groups at once.

``make bench TABLES=viewers``. The first two are measured in this process, in pairs; the viewers ask a server with one
worker over HTTP, each with the token of its group, and every row of every answer is looked at.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

import httpx2

from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.product_app import GROUPS, Sites, fill, group_name, serving, write_dashboards
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.dashboards.charts.chart_rows import ChartRows
from tenantry.dashboards.folder import DashboardFolder, SavedDashboard
from tenantry.dashboards.panels.panel_runner import PanelRunner
from tenantry.dashboards.protocol.answer_budget import answer_budget
from tenantry.dashboards.protocol.panel_request import WantedPanel
from tenantry.datasources import ResultCache

PANELS: Final = 12
PAIRS: Final = 51
ROUNDS: Final = 5
PATIENCE: Final = 300.0


class _Crowd(NamedTuple):
    """Seconds of each page, pages that were not whole, and pages with a row of another group."""

    seconds: list[float]
    errors: int
    crossings: int


def table() -> Table:
    """Runs it."""
    result = Table(f"Server time of a page of {PANELS} panels, on SQLite", ["what", "median", "99th", "runs"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dashboards(folder)
        url = fill(folder / "rows.db")
        asyncio.run(_alone(result, DashboardFolder(folder)["viewers"], url))
    with tempfile.TemporaryDirectory() as name, serving(Path(name)) as sites:
        crowd = asyncio.run(_crowd(sites))
    pages = f"{GROUPS} viewers at once, ms per page"
    result.add(pages, *_cells([each * 1e3 for each in crowd.seconds]))
    result.add(f"{GROUPS} viewers at once, pages with an error", str(crowd.errors), "", str(len(crowd.seconds)))
    result.add(
        f"{GROUPS} viewers at once, pages with a row of another group",
        str(crowd.crossings),
        "",
        str(len(crowd.seconds)),
    )
    result.aims += [
        Aim(f"{GROUPS} viewers, errors", crowd.errors, 0),
        Aim(f"{GROUPS} viewers, rows of another group", crowd.crossings, 0),
    ]
    return result


def _cells(found: list[float]) -> tuple[str, str, str]:
    return f"{statistics.median(found):,.2f}", f"{statistics.quantiles(found, n=100)[98]:,.2f}", str(len(found))


# --- alone, in this process -------------------------------------------------------------------------------------------


async def _alone(result: Table, saved: SavedDashboard, url: str) -> None:
    async with DataSources(OneSource(url)) as sources:
        page, bare = _page(saved, sources), _bare(saved, sources)
        await page()
        await bare()
        pairs = [(await _timed(page), await _timed(bare)) for _ in range(PAIRS)]
    ratios = [one / other for one, other in pairs]
    result.add("a page, ms", *_cells([one * 1e3 for one, _ in pairs]))
    result.add("the queries of the page alone, ms", *_cells([other * 1e3 for _, other in pairs]))
    result.add("a page, × its queries alone", *_cells(ratios))
    result.aims.append(Aim("a page, × its queries alone", statistics.median(ratios), 1.3))
    async with DataSources(OneSource(url), cache=ResultCache(seconds=3_600)) as sources:
        page = _page(saved, sources)
        await page()
        kept = [await _timed(page) * 1e3 / PANELS for _ in range(PAIRS)]
    result.add("a cached panel, ms", *_cells(kept))
    result.aims.append(Aim("a cached panel, ms", statistics.median(kept), 20))


def _page(saved: SavedDashboard, sources: DataSources) -> Callable[[], Awaitable[object]]:
    """All panels, as the answer to a page has them: lines of JSON."""
    charts, viewer = ChartRows(sources), group(group_name(0), {"tenant": group_name(0)})

    async def page() -> object:
        runner = PanelRunner(saved, viewer, sources, charts, {})
        async with answer_budget().open(viewer) as answer:
            return await asyncio.gather(
                *(runner.panel(each, WantedPanel(id=each.id), answer) for each in saved.dashboard.panels),
            )

    return page


def _bare(saved: SavedDashboard, sources: DataSources) -> Callable[[], Awaitable[object]]:
    """The same queries, whose rows nobody looks at."""
    viewer = group(group_name(0), {"tenant": group_name(0)})
    templates = [each.rows for each in saved.queries.panels.values() if each.rows is not None]

    async def bare() -> object:
        asked = (sources.query(viewer, SCHEMA, each, viewer.variables) for each in templates)
        return await asyncio.gather(*asked)

    return bare


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    start = perf_counter()
    await work()
    return perf_counter() - start


# --- a hundred viewers ------------------------------------------------------------------------------------------------


async def _crowd(sites: Sites) -> _Crowd:
    found = _Crowd([], 0, 0)
    names = [group_name(number) for number in range(GROUPS)]
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(timeout=PATIENCE, limits=limits, trust_env=False) as client:
        tokens = {name: (await client.get(f"{sites.host}/token/{name}")).text for name in names}
        for _ in range(ROUNDS):
            pages = await asyncio.gather(*(_view(client, sites, name, tokens[name]) for name in names))
            errors, crossings = sum(each.errors for each in pages), sum(each.crossings for each in pages)
            seconds = [second for each in pages for second in each.seconds]
            found = _Crowd([*found.seconds, *seconds], found.errors + errors, found.crossings + crossings)
    return found


async def _view(client: httpx2.AsyncClient, sites: Sites, name: str, token: str) -> _Crowd:
    start = perf_counter()
    address = f"{sites.dashboards}/dashboards/viewers/-/panels"
    answer = await client.post(address, json={}, headers={"X-User-Group-Token": token})
    seconds = perf_counter() - start
    lines = [json.loads(each) for each in answer.text.splitlines()] if answer.status_code == 200 else []
    panels = [each for each in lines if "panel" in each]
    whole = len(panels) == PANELS and {"end": True} in lines and all(each.get("rows") for each in panels)
    crosses = any(row[0] != name for each in panels for row in each.get("rows", ()))
    return _Crowd([seconds], int(not whole), int(crosses))
