"""The demo's dashboards as files: each checks, each panel answers for each customer, and in no line is anything of
another one."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engines.samples import sampled
from tenantry import DashboardFolder
from tenantry.dashboards.definition.model import PanelKind
from tenantry.demo import DASHBOARDS
from tenantry.demo.sources import AIRLINES, DUCKDB, SHOWN, SQLITE
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.lint import lint
from tests.demo.stage import Stage, staged

NAMES = ("delays", "overview", "route")
FLIGHTS = {"UA": 53_998, "B6": 54_474, "HA": 341}
"""Of 52 weeks, from the airline's own airports."""


@pytest.fixture(scope="module")
def folder() -> DashboardFolder:
    return DashboardFolder(DASHBOARDS)


@pytest.fixture(scope="module")
async def stage(data_folder: Path) -> AsyncIterator[Stage]:
    """For all tests of this file: they only read, and add groups."""
    async with staged(data_folder) as ready:
        yield ready


class Viewers:
    """Asks for panels with the token of a carrier's group."""

    def __init__(self, client: httpx2.AsyncClient, tokens: dict[str, str]) -> None:
        self._client = client
        self._tokens = tokens

    async def lines(self, name: str, carrier: str, **body: Any) -> list[dict[str, Any]]:
        headers = {"X-User-Group-Token": self._tokens[carrier]}
        answer = await self._client.post(f"/dashboards/{name}/-/panels", json=body, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert lines.pop() == {"end": True}
        return lines

    async def panel(self, name: str, panel: str, carrier: str, **filters: Any) -> dict[str, Any]:
        (line,) = await self.lines(name, carrier, panels=[{"id": panel}], filters=filters)
        return line


@pytest.fixture
async def viewers(stage: Stage) -> AsyncIterator[Viewers]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url="http://demo") as client:
        yield Viewers(client, stage.tokens)


def whole_year() -> dict[str, str]:
    """The days that the data are moved to."""
    today = datetime.now(UTC).date()
    return {"start": (today - timedelta(days=363)).isoformat(), "end": today.isoformat()}


def test_every_dashboard_checks(folder: DashboardFolder) -> None:
    """And no control changes nothing."""
    assert sorted(folder) == list(NAMES)
    assert [*folder.findings] == []


def test_no_description_says_a_period(folder: DashboardFolder) -> None:
    """Viewers choose it. Red with the last twelve months above those of 90 days."""
    texts = [saved.dashboard.texts.substitute({"user_group": {"name": "Any"}}) for saved in folder.values()]
    said = [
        text["description"] for text in texts if re.search(r"\b(days?|weeks?|months?|years?)\b", text["description"])
    ]
    assert said == []


def test_every_kind_of_panel_is_shown(folder: DashboardFolder) -> None:
    """Also bars on top of one another, bars that lie, a change, a small line, and what a click does."""
    panels = [panel for saved in folder.values() for panel in saved.dashboard.panels]
    assert {panel.kind for panel in panels} == set(PanelKind)
    views = [panel.view.substitute({"user_group": {"name": "Any"}}) for panel in panels]
    assert {view.get("stack") for view in views} == {None, "sum", "share"}
    assert any(view.get("horizontal") for view in views)
    assert any(panel.compare for panel in panels)
    assert any(panel.sparkline for panel in panels)
    clicks = [panel.click for panel in panels if panel.click]
    assert {click.open for click in clicks} == {"", "route"}


def _templates(folder: DashboardFolder) -> Iterator[SQLTemplate]:
    for saved in folder.values():
        for queries in saved.queries.panels.values():
            yield from queries.templates
        yield from saved.queries.choices.values()


def test_every_query_asks_for_the_own_flights_alone(folder: DashboardFolder) -> None:
    """Both conditions of the group are in each, and the lints have nothing to say."""
    for template in _templates(folder):
        assert {"carrier", "home_airports"} <= {each.path for each in template.variables}
        assert lint(template) == ()
        for dialect in ("sqlite", "duckdb"):
            template.check(dialect)


@sampled(3)
@pytest.mark.parametrize("carrier", SHOWN)
@pytest.mark.parametrize("name", NAMES)
async def test_every_panel_answers_for_every_customer(
    viewers: Viewers, folder: DashboardFolder, name: str, carrier: str
) -> None:
    """Both kinds of sources are among the three. Nobody's routes but the own, no other airline's name."""
    lines = await viewers.lines(name, carrier, definition=True)
    shown = {line["panel"]: line for line in lines if "panel" in line}
    panels = list(folder[name].dashboard.panels)
    assert {panel.id for panel in panels if panel.kind is not PanelKind.HEADING} <= shown.keys()
    assert [line for line in lines if "error" in line] == []
    for panel in panels:
        if panel.query is not None:
            assert shown[panel.id]["rows"], panel.id
    text = json.dumps(lines, ensure_ascii=False)
    assert set(re.findall(r"[A-Z]{3} → [A-Z]{3}", text)) <= own_routes(carrier)
    assert [each.name for each in AIRLINES.values() if each.provided_id != carrier and each.name in text] == []
    assert AIRLINES[carrier].name in text
    assert '"currency": "USD"' in text


@cache
def all_flights() -> list[dict[str, str]]:
    packed = (files("tenantry.demo") / "data" / "flights.csv.gz").read_bytes()
    return list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode())))


def flights_of(carrier: str) -> list[dict[str, str]]:
    return [row for row in all_flights() if row["carrier"] == carrier]


def own_routes(carrier: str) -> set[str]:
    return {f"{row['origin']} → {row['dest']}" for row in flights_of(carrier)}


def test_the_three_customers_ask_both_kinds_of_sources() -> None:
    assert [AIRLINES[carrier].mapping for carrier in SHOWN] == [{"flights": each} for each in (SQLITE, DUCKDB, SQLITE)]


@pytest.mark.parametrize("carrier", SHOWN)
async def test_a_year_has_all_flights_of_the_own_airports(viewers: Viewers, carrier: str) -> None:
    """On the days of the last 52 weeks, none twice and none lost, whatever day it is. Red when a day of the year
    is not moved, and when it is moved to tomorrow."""
    figures = await viewers.panel("overview", "1-1", carrier, period=whole_year())
    assert figures["rows"][0][0] == FLIGHTS[carrier]


async def test_no_day_has_the_flights_of_two(viewers: Viewers) -> None:
    """Hawaiian flies once a day. Red when the first and the last day of the year came on one."""
    chart = await viewers.panel("overview", "2-1", "HA", period=whole_year(), step="day")
    names = [column["name"] for column in chart["columns"]]
    assert {dict(zip(names, row, strict=True))["flights"] for row in chart["rows"]} == {1}


@pytest.mark.parametrize("carrier", ["UA", "B6"])
async def test_the_share_of_all_flights_that_left(viewers: Viewers, carrier: str) -> None:
    """Also of those that were cancelled, left later than the last step or before the first one. Red when it was of the
    flights in the steps: each line ended at 100 %."""
    steps = await viewers.panel("delays", "4-1", carrier, period=whole_year())
    home = (AIRLINES[carrier].properties or {})["home_airports"]
    own = [row for row in flights_of(carrier) if row["origin"] in home and (row["month"], row["day"]) != ("12", "31")]
    delays = [int(row["dep_delay"]) for row in own if row["dep_delay"]]
    for minutes, up_to, count, share in (steps["rows"][0], steps["rows"][10], steps["rows"][-1]):
        assert count == sum(minutes <= delay < up_to for delay in delays)
        assert share == pytest.approx(sum(delay < up_to for delay in delays) / len(own))


async def test_the_last_thirty_days_have_flights_on_every_day(viewers: Viewers) -> None:
    """So that relative ranges show something, whenever the demo is run; the period before has its flights too."""
    for carrier in ("UA", "B6"):
        month = {"preset": "last-30-days"}
        chart = await viewers.panel("overview", "2-1", carrier, period=month, step="day")
        days = {date.fromisoformat(row[0][:10]) for row in chart["rows"]}
        today = datetime.now(UTC).date()
        assert {today - timedelta(days=back) for back in range(1, 29)} <= days
        figure = await viewers.panel("overview", "1-1", carrier, period=month)
        assert figure["compare"]["rows"][0][0] > 0


async def test_a_click_on_an_airport_filters_the_others(viewers: Viewers) -> None:
    """What the page asks for then."""
    donut = await viewers.panel("overview", "2-2", "B6")
    origin, flights = donut["rows"][0]
    figure = await viewers.panel("overview", "1-1", "B6", origin=[origin])
    assert figure["rows"][0][0] == flights


async def test_a_route_opens_with_what_was_clicked(viewers: Viewers) -> None:
    """The column of the table is the filter of the other dashboard."""
    table = await viewers.panel("overview", "5-1", "UA", period=whole_year())
    names = [column["name"] for column in table["columns"]]
    row = dict(zip(names, table["rows"][0], strict=True))
    figure = await viewers.panel("route", "1-1", "UA", route=[row["route"]], period=whole_year())
    assert figure["rows"][0][0] == row["flights"]


async def test_no_viewer_asks_for_another_airline(viewers: Viewers) -> None:
    """There is no such filter; another's route gives nothing."""
    figure = await viewers.panel("route", "1-1", "HA", route=["EWR → SFO"])
    assert figure["rows"][0][0] == 0


async def test_the_same_group_mapped_to_the_other_source_sees_nothing(stage: Stage, viewers: Viewers) -> None:
    """The mapping decides where the query runs: the other source has no flight of this airline."""
    stage.tokens["astray"] = await stage.add("astray", dict(AIRLINES["UA"].properties or {}), {"flights": DUCKDB})
    figure = await viewers.panel("overview", "1-1", "astray", period=whole_year())
    assert figure["rows"][0][0] == 0


async def test_what_a_group_lacks_is_named_and_nothing_is_shown(stage: Stage, viewers: Viewers) -> None:
    """Never a panel without the filter; nor is there a default source, or a word about the one that is gone. Red when
    the condition of own_flights.sql is made optional."""
    properties = dict(AIRLINES["UA"].properties or {})
    stage.tokens["gone"] = await stage.add("gone", properties, {"flights": "gone"})
    stage.tokens["unmapped"] = await stage.add("unmapped", properties, {})
    del properties["home_airports"]
    stage.tokens["incomplete"] = await stage.add("incomplete", properties, {"flights": SQLITE})
    for name, code in (("incomplete", "missing_variable"), ("unmapped", "unmapped_schema")):
        errors = [line["error"] for line in await viewers.lines("overview", name) if "rows" not in line]
        assert {error["code"] for error in errors} == {code}
        assert len(errors) == 9
    assert "home_airports" in (await viewers.panel("overview", "1-1", "incomplete"))["error"]["message"]
    assert "gone.sqlite" not in json.dumps(await viewers.lines("overview", "gone"))
