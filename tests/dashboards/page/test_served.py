"""The page and the real server together: a file of a dashboard, its queries, a database, a group's token."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from playwright.async_api import Request

from engines.axe import serious
from engines.chromium import Watched
from tests.dashboards import mounts
from tests.dashboards.page.conftest import Visit, come, until
from tests.dashboards.served import Site, serve

FILES = {
    "dashboards/overview.yaml": """
title: Departures of {{ user_group.properties.carrier }}
controls:
  period: {range: last 30 days, presets: [last-7-days, last-30-days]}
  route: {choices: {query: routes}}
rows:
  - - {figure: flights, query: key_figures, compare: previous-period, sparkline: by_day}
    - {figure: delay, query: key_figures, unit: min, better: lower}
  - - {line: flights, by: day, query: by_day, title: Flights by day, reference: 3}
    - {bar: flights, by: route, horizontal: true, query: by_route, title: Flights by route, click: {filter: route}}
  - {table: each_day, title: Each day, page: 5, sort: -day, columns: [day, {flights: {bar: true}}, {delay: decimal}]}
""",
    "queries/routes.sql": "select distinct route from flights order by route",
    "queries/key_figures.sql": """select count(*) as flights, avg(delay) as delay from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }} [[ and route = {{ params.route }} ]]""",
    "queries/by_day.sql": """select day, count(*) as flights from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }} [[ and route = {{ params.route }} ]]
group by day order by day""",
    "queries/by_route.sql": """select route, count(*) as flights from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }} group by route order by route""",
    "queries/each_day.sql": """select day, count(*) as flights, avg(delay) as delay from flights
where carrier = {{ carrier }} and {{ params.period | within(day) }} [[ and route = {{ params.route }} ]]
group by day order by day""",
}


@dataclass(frozen=True)
class Served:
    site: Site
    url: str

    def headers(self, carrier: str) -> dict[str, str]:
        return self.site.headers(carrier)


@pytest.fixture(params=[mounts.BARE, mounts.FASTAPI], ids=[mounts.BARE.name, mounts.FASTAPI.name])
async def served(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Served]:
    """As it is, and with all that may be around it; the mounts between these two are tested without a browser."""
    monkeypatch.setattr(mounts, "current", request.param)
    async with serve(tmp_path, FILES, properties={"locale": "en-GB", "accent": "#0a7d5a"}) as site:
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(site.app, log_config=None, lifespan="off"))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield Served(site, f"http://127.0.0.1:{listener.getsockname()[1]}{site.prefix}/dashboards/overview")
        finally:
            server.should_exit = True
            await running
            listener.close()


async def figure(seen: Watched, place: int) -> str:
    return await seen.page.locator(".figure-value").nth(place).inner_text()


def posts(seen: Watched) -> list[Request]:
    return [request for request in seen.requests if request.method == "POST"]


async def test_a_file_becomes_a_page(served: Served, visit: Visit) -> None:
    """Every panel, in one request after the frame; its filters at once; only what reads them is asked."""
    seen = await visit(served.url, extra_http_headers=served.headers("HA"))
    page = seen.page
    assert await page.get_by_role("heading", level=1).inner_text() == "Departures of HA"
    assert len(posts(seen)) == 1
    assert await figure(seen, 0) == "60"
    assert await page.locator(".change").inner_text() == "As before"
    assert await page.locator("text.value").all_text_contents() == ["30", "30"]
    assert await page.locator(".count").inner_text() == "1\N{EN DASH}5 of 30"
    await page.locator("rect.bar").first.click()
    await until(lambda: _figure_is(seen, "30"))
    await come(seen)
    sent = posts(seen)[-1].post_data_json
    assert sent["filters"] == {"route": "A-B"}
    assert [each["id"] for each in sent["panels"]] == ["1-1", "1-2", "2-1", "3-1"]
    await page.locator(".control-range .choice").click()
    await page.get_by_role("button", name="Last 7 days").click()
    await until(lambda: _figure_is(seen, "7"))
    await come(seen)
    await page.get_by_role("columnheader", name="Delay").get_by_role("button").click()
    await until(lambda: _first_delay(seen, "6.00"))
    assert await serious(page) == []
    assert seen.console == []
    assert await seen.violations() == []


async def test_two_groups_have_two_pages_from_one_frame(served: Served, visit: Visit) -> None:
    """The frame is the same; the locale and accent are the group's."""
    first = await visit(served.url, extra_http_headers=served.headers("HA"))
    second = await visit(served.url, extra_http_headers=served.headers("UA"))
    titles = [await seen.page.get_by_role("heading", level=1).inner_text() for seen in (first, second)]
    assert titles == ["Departures of HA", "Departures of UA"]
    fill = "getComputedStyle(document.querySelector('rect.bar')).fill"
    assert await first.page.evaluate(fill) == "rgb(10, 125, 90)"


async def test_an_address_with_an_unknown_filter(served: Served, visit: Visit) -> None:
    """The server's sentence, and a way out."""
    seen = await visit(f"{served.url}#regoin=eu", extra_http_headers=served.headers("HA"))
    assert "no filter regoin" in await seen.page.get_by_role("alert").inner_text()
    await seen.page.get_by_role("button", name="Show the defaults").click()
    await until(lambda: _figure_is(seen, "60"))


async def test_a_visit_without_a_token(served: Served, visit: Visit) -> None:
    """Nothing of any group, in plain words."""
    seen = await visit(served.url)
    title = await seen.page.get_by_role("heading", level=1).inner_text()
    assert title == "Please open this dashboard from your product"


async def _figure_is(seen: Watched, text: str) -> bool:
    found = seen.page.locator(".figure-value")
    return await found.count() > 0 and await found.first.inner_text() == text


async def _first_delay(seen: Watched, text: str) -> bool:
    return await seen.page.locator("tbody tr").first.locator("td").last.inner_text() == text


async def test_a_browser_without_javascript_is_told(served: Served, visit: Visit) -> None:
    """The frame says what it needs, in place of skeletons that nothing will ever fill. Red without the sentence."""
    page = (await visit(served.url, settle=False, java_script_enabled=False)).page
    assert "This dashboard needs JavaScript" in await page.locator("body").inner_text()
    assert await page.locator(".skeleton:visible").count() == 0
