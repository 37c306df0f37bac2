"""The dashboard over HTTP: one page, sixteen customers."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest

from tenantry.demo.sources import AIRLINES, DUCKDB, SQLITE, airline
from tests.demo.stage import Stage

ANSWERS = {"9E": 17192, "UA": 54131, "B6": 54635, "HA": 342, "OO": 32}
"""Flights of the whole year from the home airports, counted from the data by another program."""


async def opened(browse: httpx2.AsyncClient, token: str, query: str = "?from=&to=") -> httpx2.Response:
    """The dashboard as its address leads to it."""
    first = await browse.get("/", params={"USER_GROUP_TOKEN": token})
    return await browse.get(f"{first.url}{query}") if query and first.status_code == 200 else first


def flights_of(page: str) -> int:
    """The first key figure."""
    found = re.search(r'<data value="(\d+)" data-format="integer">', page)
    return int(found[1]) if found else -1


def islands(page: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)]


@pytest.mark.parametrize("carrier", ANSWERS)
async def test_each_airline_sees_its_own_flights(stage: Stage, browse: httpx2.AsyncClient, carrier: str) -> None:
    """From either source, through the same SQL."""
    page = (await opened(browse, stage.tokens[carrier])).text
    assert flights_of(page) == ANSWERS[carrier]
    assert airline(carrier).name in page
    others = [each.name for each in AIRLINES if each.carrier != carrier]
    assert [name for name in others if name in page] == []


async def test_the_same_group_mapped_to_the_other_source_sees_nothing(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """The mapping decides where the query runs: the other source has no flight of this airline."""
    other = {SQLITE: DUCKDB, DUCKDB: SQLITE}[airline("UA").source]
    token = await stage.add("astray", airline("UA").properties, {"flights": other})
    page = await opened(browse, token)
    assert page.status_code == 200
    assert "No flights in this period" in page.text


async def test_two_airlines_can_be_open_at_once(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """Opening a second one leaves the first tab as it was. Red when the cookie's path is /."""
    first = await opened(browse, stage.tokens["UA"], "")
    second = await opened(browse, stage.tokens["B6"], "")
    assert first.url != second.url
    assert "United Air Lines" in (await browse.get(first.url)).text
    assert "JetBlue Airways" in (await browse.get(second.url)).text


async def test_the_dates_filter_and_the_months_are_marked(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """January and February: two marked months, fewer flights, and the year's months for comparison."""
    whole = (await opened(browse, stage.tokens["UA"])).text
    part = (await opened(browse, stage.tokens["UA"], "?from=2013-01-01&to=2013-02-28")).text
    assert 0 < flights_of(part) < flights_of(whole) / 5
    months = islands(part)[0]["data"]["values"]
    assert [row["month"] for row in months if row["chosen"]] == ["2013-01-01", "2013-02-01"]
    assert len(months) == 12


async def test_the_charts_hold_rows_and_a_description(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """The chart's data are the table's data, and its description names the group."""
    months, routes = islands((await opened(browse, stage.tokens["HA"])).text)
    assert "Hawaiian Airlines" in months["description"]
    assert routes["data"]["values"] == [{"route": "JFK → HNL", "flights": 342}]


@pytest.mark.parametrize("query", ["?from=2013-02-30&to=", "?from=2013-05-02&to=2013-05-01", "?from=x'%20or%201=1--"])
async def test_bad_dates_are_a_friendly_message(stage: Stage, browse: httpx2.AsyncClient, query: str) -> None:
    """422, the form is still there, and nothing was queried."""
    page = await opened(browse, stage.tokens["UA"], query)
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert "No period is chosen" in page.text
    assert 'name="from"' in page.text


async def test_a_viewer_cannot_become_another_airline(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """Query parameters are params.*, whatever their name."""
    plain = await opened(browse, stage.tokens["HA"])
    tried = await opened(browse, stage.tokens["HA"], "?from=&to=&carrier=UA&home_airports=EWR&user_group=UA")
    assert flights_of(tried.text) == flights_of(plain.text) == ANSWERS["HA"]


async def test_a_missing_variable_is_named(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """Never a page without the filter. Red when the query's guarded path is made optional."""
    properties = {**airline("UA").properties}
    del properties["home_airports"]
    token = await stage.add("incomplete", properties, airline("UA").mapping)
    page = await opened(browse, token, "")
    assert page.status_code == 422
    assert "home_airports" in page.text
    assert page.text.count('role="alert"') == 1  # four panels say it once; red when they name positions in the SQL
    assert "<data" not in page.text


async def test_a_data_source_that_is_not_there_is_named(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """The page says which schema has no answer, and neither path nor trace."""
    token = await stage.add("cut off", airline("UA").properties, {"flights": "gone"})
    page = await opened(browse, token, "")
    assert page.status_code >= 500
    assert "data source for “flights”" in page.text
    assert "gone.sqlite" not in page.text
    assert "Traceback" not in page.text


async def test_a_group_without_mapping_reaches_no_source(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """There is no default source."""
    token = await stage.add("unmapped", airline("UA").properties, {})
    page = await opened(browse, token, "")
    assert page.status_code == 422
    assert "<data" not in page.text


async def test_a_hostile_property_stays_text(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """In the head, the chart's island and the style address alike. Red when the template marks a value as safe."""
    hostile = "</script><script>alert(1)</script>"
    properties = {**airline("UA").properties, "accent": "#fff}*{display:none", "locale": '"><b>'}
    made = await stage.add(hostile, properties, airline("UA").mapping)
    page = (await opened(browse, made)).text
    assert "alert(1)" in page
    assert hostile not in page
    assert '"><b>' not in page
    assert "display:none" not in page


async def test_the_page_carries_a_strict_policy_and_no_inline_code(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """No style attribute, no style element, no script with code in it."""
    page = await opened(browse, stage.tokens["UA"])
    policies = page.headers.get_list("content-security-policy")
    assert policies[0].startswith("default-src 'self'; ")
    assert not any("unsafe" in policy for policy in policies)
    assert policies[1] == "frame-ancestors 'none'"
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*(?:src=|application/json))", page.text) == []
    assert "private" in page.headers["cache-control"]


async def test_the_dashboards_can_be_mounted_under_a_path(stage: Stage) -> None:
    """Redirect, cookie and links follow the mount."""
    from starlette.applications import Starlette
    from starlette.routing import Mount

    outer = Starlette(routes=[Mount("/vendor/app", stage.app)])
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=outer), base_url="http://demo", follow_redirects=True
    ) as client:
        page = await client.get("/vendor/app/", params={"USER_GROUP_TOKEN": stage.tokens["HA"]})
        assert page.status_code == 200
        assert page.url.path.startswith("/vendor/app/d/")
        style = re.search(r'href="([^"]*tokens[^"]*)"', page.text)
        assert style is not None
        assert (await client.get(page.url.join(style[1]))).status_code == 200
