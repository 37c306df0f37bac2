"""Every route of dashboards that runs SQL for a group, on a source with guarded tables. A new route is red until it is
listed. Red for each route when ``bind_query`` bound the author's template."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from tenantry import DashboardFolder
from tenantry.dashboards.explanation import explain_dashboard
from tests.datasources.guarded.house import House, open_house
from tests.datasources.guarded.shop import ACME, GLOBEX


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as opened:
        yield opened


async def panels(house: House, name: str, token: str = "") -> None:
    """Rows, a sparkline, a chart and choices; a sorted page; with a filter of a viewer."""
    rows = sorted(ACME if name == "acme" else GLOBEX)
    for filters in ({}, {"owner": ["acme", "globex"]}):
        body = {"definition": True, "filters": filters}
        answer = await house.post(name, "orders/-/panels", body, token)
        text = answer.text.replace(name, "")
        assert "acme" not in text.lower().replace('["acme","globex"]', "")
        assert "globex" not in text
        lines = {each["panel"]: each for each in map(json.loads, answer.text.splitlines()) if "panel" in each}
        assert [tuple(row) for row in lines["1-1"]["rows"]] == rows
        assert str(len(rows)) in json.dumps(lines["1-2"])
        assert len(lines["1-3"]["rows"]) == len(rows)
    wanted = {"panels": [{"id": "1-1", "page": 0, "sort": "-id"}]}
    sorted_rows = [
        json.loads(line) for line in (await house.post(name, "orders/-/panels", wanted, token)).text.splitlines()
    ]
    assert [list(row) for row in sorted_rows[0]["rows"]] == [list(row) for row in reversed(rows)]


async def download(house: House, name: str, token: str = "") -> None:
    issued = await house.post(name, "orders/-/panels/1-1/download", {}, token)
    file = await house.client.get(issued.json()["address"])
    rows = sorted(ACME if name == "acme" else GLOBEX)
    assert file.text.splitlines()[1:] == [f"{number},{owner}" for number, owner in rows]


async def preview(house: House, name: str) -> None:
    """A preview's session has the same routes; it alone has explanations."""
    asked = {"user_group_id": name, "dashboard": "orders"}
    headers = {"Authorization": f"Token {house.api_token}"}
    for run in (panels, download, explanation):
        answer = await house.client.post("/dashboards/-/preview", json=asked, headers=headers)
        assert answer.status_code == 200, answer.text
        code = answer.json()["address"].partition("#code=")[2]
        token = (await house.client.post("/dashboards/-/redeem", json={"code": code})).json()["token"]
        await run(house, name, token)


async def explanation(house: House, name: str, token: str) -> None:
    """Says what replaces a table, without a value. (A viewer has no explanations.)"""
    text = (await house.post(name, "orders/-/panels/1-1/explanation", {}, token)).json()["text"]
    assert "table orders (line 1, column 23): only rows where " in text
    assert "{{ user_group.id }}" in text
    assert "from (select * from orders where " in text


async def explanation_of_a_dashboard(house: House, name: str) -> None:
    saved = DashboardFolder(house.folder / "dashboards")["orders"]
    found = await explain_dashboard(saved, house.groups[name], house.sources, values=True)
    queries = [*found["choices"], *(each for panel in found["panels"] for each in panel["queries"])]
    assert len(queries) == 5
    for each in queries:
        assert [guard["table"] for guard in each["guards"]] == ["orders"]
        assert "from (select * from orders where " in each["sql"]


ROUTES: dict[str, Callable[[House, str], Awaitable[None]]] = {
    "/{name:path}/-/panels": panels,
    "/{name:path}/-/panels/{panel}/download": download,
    "/-/download/{code}": download,
    "/-/preview": preview,
    "/-/redeem": preview,
    "/{name:path}/-/panels/{panel}/explanation": preview,
}
ROUTES_WITHOUT_SQL = {"/-/assets/{address}", "/{name:path}", "/{name:path}/-/embed-code"}
"""Files of the page; the frame; a code for a token. So are the scripts of the element below ``/-/``."""


@pytest.mark.parametrize("way", [panels, download, preview, explanation_of_a_dashboard])
async def test_the_ways_of_dashboards(way: Callable[[House, str], Awaitable[None]], house: House) -> None:
    for name in ("acme", "globex"):
        await way(house, name)


async def test_every_route_is_listed(house: House) -> None:
    app: Any = house.client._transport
    mounted = app.app.routes[0].app
    found = {route.path for route in mounted.routes if isinstance(route, Route)}
    files = {path for path in found if path.startswith("/-/") and path.endswith((".js", ".css", ".ts", ".tgz"))}
    assert found - files == {*ROUTES, *ROUTES_WITHOUT_SQL}
