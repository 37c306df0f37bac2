"""What a viewer leaves out: an end of a range, and the value of a control that has a default."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.dashboards.served import Site, serve

FILES = {
    "dashboards/flights.yaml": """
title: Flights
controls:
  period: {range: last 30 days}
  route: {choices: [A-B, A-C], default: A-B}
  several: {choices: [A-B, A-C], many: true, default: [A-B]}
  least: {number: 3}
  unit: {choices: [a, b], required: true}
rows:
  - {figure: flights, query: flights, columns: [first, last]}
  - {figure: unit, query: unit}
""",
    "queries/flights.sql": """/* ---
params: {period: date range}
--- */
select count(*) as flights, min(day) as first, max(day) as last from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }}
[[ and route = {{ params.route }} ]] [[ and route in {{ params.several }} ]] and delay >= {{ params.least }}""",
    "queries/unit.sql": "select {{ params.unit }} as unit",
    "dashboards/others.yaml": """
title: Others
controls:
  route: {choices: [A-B, A-C], default: A-B}
rows:
  - {figure: flights, query: others}
""",
    "queries/others.sql": """select count(*) as flights from flights
where carrier = {{ carrier }} and not {{ params.route | matches(route) }}""",
}
ALL = {"route": "", "several": [], "least": 0}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with serve(tmp_path, FILES) as served:
        yield served


def day(back: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=back)).isoformat()


async def figure(site: Site, **filters: Any) -> list[Any]:
    panels = await site.panels("flights", panels=[{"id": "1-1"}], filters=filters)
    row: list[Any] = panels["1-1"]["rows"][0]
    return row


async def test_the_page_knows_what_may_be_left_out(site: Site) -> None:
    """With its controls."""
    dashboard, *_ = await site.lines("flights", definition=True, panels=[])
    shown = {each["name"]: (each["clearable"], each["open"]) for each in dashboard["dashboard"]["controls"]}
    assert shown == {
        "period": (False, ["end", "start"]),
        "route": (True, []),
        "several": (True, []),
        "least": (False, []),
        "unit": (False, []),
    }


async def test_an_empty_value_is_all_and_an_absent_one_the_default(site: Site) -> None:
    """Of one choice, and of several. Red when an empty value was an absent one."""
    assert (await figure(site, least=0))[0] == 30
    assert (await figure(site, least=0, route=None, several=None))[0] == 30
    assert (await figure(site, **ALL))[0] == 60
    assert (await figure(site, **ALL | {"several": ""}))[0] == 60
    assert (await figure(site, **ALL | {"several": ["A-C"]}))[0] == 30


@pytest.mark.parametrize("filters", [{"unit": ""}, {"least": ""}, {"period": {}}, {"unit": []}])
async def test_what_a_query_needs_cannot_be_empty(site: Site, filters: dict[str, Any]) -> None:
    """A control that is required, or whose default stands where the text cannot be without it. Red when it silently
    was the default."""
    answer = await site.post("flights/-/panels", {"filters": filters})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "invalid_parameter"
    assert "cannot be empty" in error["message"]


async def test_a_range_may_lack_an_end(site: Site) -> None:
    """Red when both ends were needed; and without a choice the control's default counts, though the query's header has
    none: red when the rows of all time came."""
    assert await figure(site, **ALL) == [60, day(29), day(0)]
    assert await figure(site, **ALL, period={"start": day(9), "end": None}) == [20, day(9), day(0)]
    assert await figure(site, **ALL, period={"end": day(50)}) == [20, day(59), day(50)]
    assert await figure(site, **ALL, period=f"{day(3)}..") == [8, day(3), day(0)]


async def test_a_filter_under_not_is_never_left_out(site: Site) -> None:
    """Its query compiles only because the control has a default, which then stays. Red when the control could be
    cleared: without a value `not` gives no row."""
    dashboard, *_ = await site.lines("others", definition=True, panels=[])
    assert [each["clearable"] for each in dashboard["dashboard"]["controls"]] == [False]
    panels = await site.panels("others", panels=[{"id": "1-1"}], filters={})
    assert panels["1-1"]["rows"][0] == [60]
    answer = await site.post("others/-/panels", {"filters": {"route": ""}})
    assert answer.status_code == 422
