"""The panels of a dashboard, as a page gets them: one line each, with the viewer's filters and the group's own."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry.dashboards.panels import panel_runner as panels
from tenantry.dashboards.panels.description import _theme as theme_of
from tenantry.dashboards.protocol.panel_lines import error_line
from tenantry.datasources import ResultCache
from tests.dashboards import mounts
from tests.dashboards.served import Site, serve
from tests.datasources.settings import executed, stopped

pytestmark = pytest.mark.usefixtures("mount")

FILES = {
    "dashboards/flights.yaml": """
title: Departures of {{ user_group.properties.carrier }}
controls:
  period: {range: last 30 days, presets: [last-7-days, this-year]}
  route: {choices: {query: routes}, many: true}
  worst: {number: 100}
rows:
  - - figure: flights
      query: key_figures
      compare: previous-period
      sparkline: by_day
      title: "Flights of {{ carrier }}"
      columns: [first, last]
    - {text: "Only for {{ carrier }}."}
  - {table: routes, show_query: true, click: {filter: route}}
""",
    "queries/key_figures.sql": """select count(*) as flights, min(day) as first, max(day) as last from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }}
[[ and route in {{ params.route }} ]] [[ and delay <= {{ params.worst }} ]]""",
    "queries/by_day.sql": """/* ---
params: {period: date range}
--- */
select day, count(*) as flights from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }} group by day order by day""",
    "queries/routes.sql": """/* ---
title: Routes
--- */
select route, count(*) as flights from flights where carrier = {{ carrier }} group by route order by route""",
}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with serve(tmp_path, FILES, properties={"locale": "de-AT", "currency": "EUR", "accent": "#c2263b"}) as served:
        yield served


def day(back: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=back)).isoformat()


def test_the_theme_of_a_group_may_be_one_property() -> None:
    """With an accent and a palette, before an ``accent`` of its own. Red when the property is not read."""
    theme = {"accent": "#111111", "palette": ["#222222", "#333333"], "other": 1}
    assert theme_of({"accent": "#c2263b", "theme": theme}) == {k: v for k, v in theme.items() if k != "other"}
    assert theme_of({"accent": "#c2263b", "theme": {"palette": "#222222"}}) == {"accent": "#c2263b"}


def test_an_error_says_when_it_was() -> None:
    """The page then shows how old it is. Red when the key has another name."""
    assert json.loads(error_line("panel", "1-1", {"code": "query_timeout"}, 5.0)) == {
        "panel": "1-1",
        "error": {"code": "query_timeout"},
        "as_of": 5.0,
    }


async def test_a_page_gets_the_dashboard_its_choices_and_its_panels(site: Site) -> None:
    """First what is drawn, in the words and with the theme of the group; then each thing as it is ready. Nothing of it
    says where the rows come from. Red when the view holds the file's other keys."""
    dashboard, *others = await site.lines("flights", definition=True)
    shown = dashboard["dashboard"]
    assert (shown["name"], shown["title"]) == ("flights", "Departures of HA")
    assert (shown["locale"], shown["currency"], shown["theme"]) == ("de-AT", "EUR", {"accent": "#c2263b"})
    period, route, worst = shown["controls"]
    assert (period["kind"], period["default"]) == ("range", {"preset": "last-30-days"})
    assert period["presets"] == ["last-7-days", "this-year"]
    assert (route["kind"], route["many"], route["choices"], route["default"]) == ("choices", True, None, None)
    assert (worst["kind"], worst["default"]) == ("number", "100")
    figure, text, table = (panel for row in shown["rows"] for panel in row)
    assert figure["view"] == {"kind": "figure", "figure": "flights", "title": "Flights of HA"}
    assert [each["reads"] for each in (figure, text, table)] == [["period", "route", "worst"], [], []]
    assert text["view"]["text"] == "Only for HA."
    assert table["query"].startswith("select route")  # without its header
    assert table["click"] == {"values": {"route": "route"}, "open": ""}
    assert {
        "choices": "route",
        "values": [{"value": "A-B", "label": "A-B"}, {"value": "A-C", "label": "A-C"}],
    } in others
    by_id = {line["panel"]: line for line in others if "panel" in line}
    assert set(by_id) == {"1-1", "1-2", "2-1"}
    assert by_id["1-1"]["columns"][0] == {"name": "flights", "type": "integer"}
    assert by_id["1-1"]["rows"] == [[60, day(29), day(0)]]
    assert by_id["2-1"]["rows"] == [["A-B", 60], ["A-C", 60]]


async def test_a_figure_has_the_period_before_and_a_small_line(site: Site) -> None:
    """The period of the same length, just before the viewer's. Red when a day is in both."""
    panels = await site.panels("flights", panels=[{"id": "1-1"}], filters={"period": {"preset": "last-7-days"}})
    (figure,) = panels.values()
    assert figure["rows"] == [[14, day(6), day(0)]]
    assert figure["compare"]["rows"] == [[14, day(13), day(7)]]
    assert figure["sparkline"]["rows"] == [[day(back), 2] for back in range(6, -1, -1)]
    assert figure["age"] >= 0


async def test_filters_are_typed_by_their_controls(site: Site) -> None:
    """Days as people write them, of which the last is a part; several choices; a number."""
    filters = {"period": {"start": day(9), "end": day(8)}, "route": ["A-B"], "worst": 5}
    panels = await site.panels("flights", filters=filters, panels=[{"id": "1-1"}])
    delays = [back % 7 for back in (9, 8)]
    assert panels["1-1"]["rows"] == [[sum(delay <= 5 for delay in delays), day(9), day(8)]]
    for period in (
        f"{day(9)}..{day(8)}",
        f"{day(1)}..",
        "last-7-days",
        "..",
    ):  # as an address has it, of a page that knows no controls yet
        line = (await site.panels("flights", filters={"period": period, "worst": "7"}, panels=[{"id": "1-1"}]))["1-1"]
        assert line["rows"][0][0] == {f"{day(9)}..{day(8)}": 4, f"{day(1)}..": 4, "last-7-days": 14, "..": 60}[period]
    cleared = await site.panels("flights", panels=[{"id": "1-1"}], filters={"route": [], "period": None, "worst": ""})
    assert cleared["1-1"]["rows"][0][0] == 60


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"carrier": "UA"}, "carrier"),
        ({"routes": "A-B"}, "did you mean route"),
        ({"period": {"preset": "last decade"}}, "params.period"),
        ({"period": {"start": "2026-02-01", "end": "2026-01-01"}}, "params.period"),
        ({"period": {"from": "2026-02-01"}}, "params.period"),
        ({"route": [["A-B"]]}, "params.route"),
        ({"worst": "many"}, "params.worst"),
    ],
)
async def test_a_filter_that_is_none_is_refused_by_name(site: Site, filters: Any, named: str) -> None:
    """Also one that would be a property of the group: that cannot be expressed. Red when unknown names are dropped: a
    viewer would see more than was chosen."""
    answer = await site.post("flights/-/panels", {"filters": filters})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "invalid_parameter")
    assert named in error["message"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"panels": [{"id": "9-9"}]}, 422, "/panels/0/id"),
        ({"panels": [{"id": "1-1"}, {"id": "1-1", "page": 1}]}, 422, "/panels/1/id"),
        ({"panels": [{"id": "1-1", "width": "wide"}]}, 422, "/panels/0/width"),
        ({"colour": 1}, 422, "/colour"),
        ({"choices": ["period"]}, 422, "/choices/0"),
    ],
)
async def test_a_body_that_is_none_is_refused_at_its_place(site: Site, body: Any, status: int, field: str) -> None:
    """With a pointer to it. Red when a panel may be asked for twice: 600 pages of one table were 600 queries."""
    answer = await site.post("flights/-/panels", body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


async def test_a_body_has_a_size(site: Site) -> None:
    """Red when all of it is read."""
    answer = await site.post("flights/-/panels", {"filters": {"route": "x" * 70_000}})
    assert answer.status_code == 413


async def test_panels_need_a_token_and_it_decides_whose_they_are(site: Site) -> None:
    """Red when the data route is not behind the middleware; a cookie and the query are no way in, unless a middleware
    of the whole app reads them."""
    assert (await site.client.post("/dashboards/flights/-/panels", json={})).status_code == 401
    token = site.tokens["HA"].decode()
    elsewhere = 200 if mounts.current.is_inside else 401
    cookie = {"Cookie": f"USER_GROUP_TOKEN={token}"}
    assert (await site.client.post("/dashboards/flights/-/panels", json={}, headers=cookie)).status_code == elsewhere
    in_address = f"/dashboards/flights/-/panels?USER_GROUP_TOKEN={token}"
    assert (await site.client.post(in_address, json={})).status_code == elsewhere
    for carrier in ("HA", "UA"):
        dashboard, *_ = await site.lines("flights", carrier, definition=True)
        assert dashboard["dashboard"]["title"] == f"Departures of {carrier}"


async def test_an_answer_is_kept_by_nobody(site: Site) -> None:
    """It is one group's."""
    answer = await site.post("flights/-/panels", {})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "no-store" in answer.headers["cache-control"]
    assert "X-User-Group-Token" in answer.headers["vary"]


BROKEN = {
    "dashboards/broken.yaml": """
title: "{{ motto }}"
rows:
  - - {table: {sql: "select 1 as a"}, title: "{{ motto }}"}
    - {table: {sql: "select secret_column from no_table where a = {{ carrier }}"}}
    - {table: {sql: "select {{ missing }} as a"}}
    - {table: {sql: "select 1 as a"}, schema: other}
    - {table: {sql: "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"}}
    - {table: {sql: "select 2 as b"}}
""",
}


async def test_a_broken_panel_says_why_and_holds_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A code and a sentence for the viewer; the log has what the operator needs. Neither has SQL or a value. Red when
    the message of the error is sent, and when the first error ends the answer."""
    with caplog.at_level(logging.INFO):
        async with serve(tmp_path, BROKEN, limits={"row_limit": 100}) as site:
            dashboard, *lines = await site.lines("broken", definition=True)
    assert dashboard["dashboard"]["title"] == "Broken"
    found = {line["panel"]: line.get("error", {}).get("code", line.get("rows")) for line in lines}
    assert found == {
        "1-1": "missing_variable",
        "1-2": "query_failed",
        "1-3": "missing_variable",
        "1-4": "unmapped_schema",
        "1-5": "too_many_rows",
        "1-6": [[2]],
    }
    messages = {line["panel"]: line["error"]["message"] for line in lines if "error" in line}
    assert messages["1-3"] == "Something that this panel needs is not set for you: missing."
    shown = json.dumps(lines) + caplog.text
    assert not [word for word in ("select", "secret_column", "no_table", "HA", "Traceback") if word in shown]
    assert "panel 1-2 of dashboard broken: query_failed" in caplog.text


async def test_a_mistake_of_the_program_is_an_error_of_its_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its text may hold a value, so the log has only what and where it was. Red when only errors of ours are caught:
    the answer ends without the other panels; and when the log has the error's text."""
    async with serve(tmp_path, FILES) as site:
        query = site.sources.query

        async def mistaken(group: Any, schema: Any, template: Any, *given: Any, **more: Any) -> Any:
            if "by_day" in str(template):
                raise LookupError("hunter2")
            return await query(group, schema, template, *given, **more)

        monkeypatch.setattr(site.sources, "query", mistaken)
        panels = await site.panels("flights")
    assert panels["1-1"]["error"]["code"] == "internal"
    assert "hunter2" not in json.dumps(panels) + caplog.text
    assert "rows" in panels["2-1"]
    assert "LookupError" in caplog.text


SLOW = {
    "dashboards/slow.yaml": """
title: Slow
rows:
  - - {table: {sql: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as a from n"}}
    - {table: {sql: "select 1 as a"}}
""",
}


async def test_a_slow_panel_holds_no_other_and_ends_with_its_viewer(tmp_path: Path) -> None:
    """The quick one is sent while the slow one runs; when the viewer leaves, its query is stopped. Red when the lines
    are sent together, and without while_connected: the query runs on to its timeout."""
    async with serve(tmp_path, SLOW, limits={"timeout": 600}) as site:
        async with site.reading("slow/-/panels", {}) as reader:
            assert (await reader.line())["panel"] == "1-2"
        async with asyncio.timeout(60):
            while not stopped(site.sources):
                await asyncio.sleep(0.01)
        assert stopped(site.sources) == 1
        assert site.sources.in_flight.by_key == {}


async def test_who_asks_anew_gets_fresh_rows_and_the_source_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a cache are not enough for a viewer who asks again; those of this moment are, however many ask. Red
    without the word in the request, and when it asks the source each time."""
    files = FILES | {"dashboards/flights.yaml": FILES["dashboards/flights.yaml"] + "cache: 1 hour\n"}
    async with serve(tmp_path, files, limits={"cache": ResultCache(seconds=3_600)}) as site:
        wanted = {"panels": [{"id": "1-1"}, {"id": "2-1"}]}

        async def executions(**more: bool) -> int:
            before = executed(site.sources)
            assert all("error" not in line for line in await site.lines("flights", **wanted, **more))
            return executed(site.sources) - before

        monkeypatch.setattr(panels, "FRESH", 3_600.0)
        queries = await executions()
        assert queries >= 3
        assert await executions() == 0
        assert await executions(fresh=True) == 0, "they are of this moment"
        monkeypatch.setattr(panels, "FRESH", 0.001)
        await asyncio.sleep(0.1)
        assert await executions() == 0
        assert await executions(fresh=True) == queries
        monkeypatch.setattr(panels, "FRESH", 3_600.0)
        assert await executions(fresh=True) == 0
