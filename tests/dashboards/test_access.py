"""Which dashboards a group may open, and which panels it sees, by every route of a mount."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from tenantry import DashboardFolder, Embedding, Resolver, UserGroup, mount_dashboards
from tenantry.dashboards.access import Access, MayOpen
from tenantry.dashboards.explanation import explain_dashboard
from tenantry.datasources import ResultCache
from tenantry.errors import InvalidSettings, NotFound
from tenantry.groups import Environment, GroupChanges, GroupDraft, Scope, SourceDraft, Tag
from tenantry.provisioning import issue_api_token
from tenantry.testing import MemoryStore, make_token
from tests.dashboards import mounts
from tests.dashboards.served import write_files
from tests.datasources.settings import data_sources
from tests.resolver.fake import KEYS

pytestmark = pytest.mark.usefixtures("mount")

PLAN = "{property: plan, in: [pro]}"
FILES = {
    "dashboards/sales.yaml": f"""
title: Sales
controls:
  city: {{text: Graz}}
  depth: {{choices: {{query: depths}}}}
rows:
  - - {{figure: a, query: {{sql: "select 1 as a where 'Graz' = {{{{ params.city }}}}"}}, width: 3,
       click: {{open: forecast}}}}
    - {{figure: a, query: deep, width: 6, when: {PLAN}}}
    - {{table: {{sql: "select 3 as a, 'x' as city"}}, columns: [a], width: 3, click: {{open: sales, with: [city]}}}}
  - {{heading: Of plan pro, when: {PLAN}}}
  - {{table: deep, columns: [a], when: {PLAN}}}
""",
    "dashboards/forecast.yaml": f"""
title: Forecast
when: {PLAN}
rows: [{{table: {{sql: select 5 as a}}, columns: all}}]
""",
    "queries/deep.sql": "select 2 as a [[ where {{ params.depth }} = 'x' ]]",
    "queries/depths.sql": "select 'x' as depth",
}
PROPERTIES: dict[str, Any] = {
    "pro": {"plan": "pro", "dashboards": ["sales"]},
    "basic": {"plan": "basic", "dashboards": "forecast"},
    "none": {},
}
HIDDEN = ("1-2", "2-1", "3-1")


class Shop:
    """An app whose groups have several plans."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.options = write_files(folder, FILES), options
        self.store = MemoryStore()
        self.environment: Environment
        self.tokens: dict[str, str] = {}
        self.groups: dict[str, UserGroup] = {}
        self.api_token = ""
        self.routes: list[Any] = []
        self.client: httpx2.AsyncClient

    async def open(self) -> AsyncIterator[Shop]:
        store = self.store
        self.environment = await store.environments.create("production", Tag.CUSTOMER)
        (self.folder / "empty.db").touch()
        url = f"sqlite:///{self.folder}/empty.db"
        await store.sources.create(self.environment, "ds_1", SourceDraft("warehouse", url))
        for name, properties in PROPERTIES.items():
            await self.group(name, properties)
        self.api_token, _ = await issue_api_token(
            store.api_tokens, self.environment, label="x", scopes=(Scope.PREVIEW,)
        )
        resolver = Resolver(store, keys=KEYS)
        async with data_sources(store, cache=ResultCache(seconds=600)) as sources:
            folder, embedding = self.folder / "dashboards", Embedding(store, KEYS)

            def mount_on(app: Any) -> None:
                mount_dashboards(app, folder, resolver, sources, embedding=embedding, **self.options)
                self.routes = app.routes[-1].app.routes

            transport = httpx2.ASGITransport(mounts.current.build(resolver, mount_on))
            url = f"http://dash.test{mounts.current.prefix}"
            async with httpx2.AsyncClient(transport=transport, base_url=url) as self.client:
                yield self
        await resolver.aclose()

    async def group(self, name: str, properties: Any) -> None:
        token = make_token(key_id=KEYS.active_id)
        draft = GroupDraft(name, name, properties, {"main": "warehouse"})
        self.groups[name] = (await self.store.groups.get_or_create(self.environment, draft, token)).group
        self.tokens[name] = KEYS.mint(token)

    async def change(self, name: str, properties: Any) -> None:
        await self.store.groups.update(self.environment, name, GroupChanges(properties=properties))

    async def post(self, path: str, name: str, body: Any = None, token: str = "") -> httpx2.Response:
        headers = {"X-User-Group-Token": token or self.tokens[name]}
        return await self.client.post(f"/dashboards/{path}", json=body or {}, headers=headers)

    async def lines(self, dashboard: str, name: str, **body: Any) -> list[dict[str, Any]]:
        answer = await self.post(f"{dashboard}/-/panels", name, body)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    async def opens(self, dashboard: str, name: str) -> int:
        return (await self.post(f"{dashboard}/-/panels", name)).status_code

    async def preview(self, dashboard: str, name: str) -> httpx2.Response:
        asked = {"user_group_id": name, "dashboard": dashboard}
        headers = {"Authorization": f"Token {self.api_token}"}
        return await self.client.post("/dashboards/-/preview", json=asked, headers=headers)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async for opened in Shop(tmp_path).open():
        yield opened


async def with_may_open(tmp_path: Path, may_open: MayOpen) -> AsyncIterator[Shop]:
    async for opened in Shop(tmp_path, may_open=may_open).open():
        yield opened


# --- every route ------------------------------------------------------------------------------------------------------


async def same(one: Awaitable[httpx2.Response], other: Awaitable[httpx2.Response]) -> httpx2.Response:
    """The first of two answers, which differ in the dashboard's name alone."""
    first, second = await one, await other
    assert first.text == second.text.replace("missing1", "forecast")
    assert (first.status_code, first.headers) == (second.status_code, second.headers)
    return first


def posted(ending: str, body: Any = None) -> Callable[[Shop], Awaitable[None]]:
    async def ask(shop: Shop) -> None:
        for name in ("basic", "none"):
            forbidden, missing = (shop.post(f"{each}{ending}", name, body) for each in ("forecast", "missing1"))
            answer = await same(forbidden, missing)
            assert (answer.status_code, answer.text) == (404, "There is no such dashboard.")
        assert (await shop.post(f"forecast{ending}", "pro", body)).status_code == 200

    return ask


async def frame(shop: Shop) -> None:
    """The group is not known yet, so the page is that of any unknown name, and holds neither title nor panels."""
    get = shop.client.get
    answer = await same(get("/dashboards/forecast"), get("/dashboards/missing1"))
    assert answer.status_code == 200
    assert "Forecast" not in answer.text
    assert "skeleton-panel" not in answer.text
    assert (await get("/dashboards/-/missing")).status_code == 404
    places = (await get("/dashboards/sales")).text
    assert [f'data-id="{panel}"' in places for panel in ("1-1", "1-2", "1-3", "2-1", "3-1")] == [
        True, False, True, False, False,
    ]  # fmt: skip


async def file(shop: Shop) -> None:
    """An address that was issued before the group's plan ended."""
    addresses = [(await shop.post(f"{each}/download", "pro")).json()["address"] for each in (
        "forecast/-/panels/1-1", "sales/-/panels/3-1", "sales/-/panels/1-3",
    )]  # fmt: skip
    await shop.change("pro", {"plan": "basic"})
    assert [(await shop.client.get(f"http://dash.test{each}")).status_code for each in addresses] == [410, 404, 200]


async def preview(shop: Shop) -> None:
    """None is issued, and a session ends to show what the group no longer sees."""
    assert (await shop.preview("forecast", "basic")).status_code == 404
    assert (await shop.preview("missing1", "pro")).status_code == 404
    code = (await shop.preview("forecast", "pro")).json()["address"].partition("#code=")[2]
    session = (await shop.client.post("/dashboards/-/redeem", json={"code": code})).json()["token"]
    asked = [f"forecast/-/panels{ending}" for ending in ("", "/1-1/explanation", "/1-1/download")]
    assert [(await shop.post(each, "", token=session)).status_code for each in asked] == [200, 200, 200]
    await shop.change("pro", {})
    assert [(await shop.post(each, "", token=session)).status_code for each in asked] == [404, 404, 404]


async def explanation(shop: Shop) -> None:
    code = (await shop.preview("sales", "basic")).json()["address"].partition("#code=")[2]
    session = (await shop.client.post("/dashboards/-/redeem", json={"code": code})).json()["token"]
    asked = [await shop.post(f"sales/-/panels/{panel}/explanation", "", token=session) for panel in ("1-1", *HIDDEN)]
    assert [each.status_code for each in asked] == [200, 404, 404, 404]


ROUTES: dict[str, Callable[[Shop], Awaitable[None]]] = {
    "/{name:path}/-/panels": posted("/-/panels", {"definition": True, "live": False}),
    "/{name:path}/-/panels/{panel}/download": posted("/-/panels/1-1/download"),
    "/{name:path}/-/panels/{panel}/explanation": explanation,
    "/{name:path}/-/embed-code": posted("/-/embed-code"),
    "/{name:path}": frame,
    "/-/download/{code}": file,
    "/-/preview": preview,
}
OF_NO_DASHBOARD = {"/-/assets/{address}", "/-/redeem"}
"""Files of the page, and what a code stands for: a token, or a preview's session. So are the element's files."""


@pytest.mark.parametrize("path", ROUTES)
async def test_no_route_knows_the_dashboard_of_another_plan(shop: Shop, path: str) -> None:
    """Neither a plan that is not listed nor a missing one opens it. Red for each route that finds a dashboard without
    the group."""
    await ROUTES[path](shop)


async def test_every_route_is_listed(shop: Shop) -> None:
    """Red for a new route until ROUTES says how it treats a dashboard of another plan."""
    found = {route.path for route in shop.routes if isinstance(route, Route)}
    files = {path for path in found if path.startswith("/-/") and path.endswith((".js", ".ts", ".tgz"))}
    assert found - files == {*ROUTES, *OF_NO_DASHBOARD}


# --- panels -----------------------------------------------------------------------------------------------------------


async def test_a_panel_is_for_the_groups_that_it_names(shop: Shop) -> None:
    """Others get neither its place nor its rows, and its id is unknown. Its neighbours take its columns; a control that
    only its query reads is left out, with its choices. Red when only the page leaves it out."""
    shown = {}
    for name in PROPERTIES:
        lines = await shop.lines("sales", name, definition=True)
        about = lines[0]["dashboard"]
        panels = {each["panel"] for each in lines if "panel" in each}
        widths = [[panel["width"] for panel in row] for row in about["rows"]]
        controls = [each["name"] for each in about["controls"]]
        shown[name] = (panels, widths, controls, any("choices" in each for each in lines))
    everything = {"1-1", "1-2", "1-3", "3-1"}
    assert shown["pro"] == (everything, [[3, 6, 3], [0], [0]], ["city", "depth"], True)
    assert shown["basic"] == shown["none"] == (everything - {*HIDDEN}, [[6, 6]], ["city"], False)
    for panel in HIDDEN:
        for name, status in (("pro", 200), ("basic", 422)):
            assert (await shop.post("sales/-/panels", name, {"panels": [{"id": panel}]})).status_code == status
    hidden, missing = (shop.post(f"sales/-/panels/{panel}/download", "basic") for panel in ("3-1", "9-9"))
    assert (await same(hidden, missing)).status_code == 404
    assert (await shop.post("sales/-/panels", "basic", {"choices": ["depth"]})).status_code == 422
    assert (await shop.post("sales/-/panels", "basic", {"filters": {"depth": "x"}})).status_code == 200


async def test_a_message_suggests_only_filters_that_the_group_sees(shop: Shop) -> None:
    """Red when the names come from the file: a basic group read "did you mean depth?"."""
    for name, other, text in (
        ("pro", "dept", "depth?"),
        ("basic", "dept", "; it has city"),
        ("basic", "citi", "city?"),
    ):
        answer = await shop.post("sales/-/panels", name, {"filters": {other: "x"}})
        assert (answer.status_code, answer.json()["error"]["message"].endswith(text)) == (422, True)


async def test_a_link_leads_to_what_the_group_may_open(shop: Shop) -> None:
    """Red when a row of a basic group opens "There is no such dashboard"."""
    for name, is_link in (("pro", True), ("basic", False), ("none", False)):
        about = (await shop.lines("sales", name, definition=True))[0]["dashboard"]
        assert ("click" in about["rows"][0][0]) is is_link


async def test_a_link_names_only_controls_that_the_group_sees(shop: Shop) -> None:
    """Red when the labels of the opened dashboard's controls, or filters of panels that the group does not see, come
    from its file."""
    for name, controls in (("pro", ["city", "depth"]), ("basic", ["city"]), ("none", ["city"])):
        about = (await shop.lines("sales", name, definition=True))[0]["dashboard"]
        assert [each["name"] for each in about["rows"][0][-1]["click"]["controls"]] == controls


async def test_an_answer_of_one_group_decides_for_no_other(shop: Shop) -> None:
    """In turn, with cached rows and at the same revision of the files; also when a plan changes."""
    for _ in range(2):
        assert [await shop.opens("forecast", name) for name in PROPERTIES] == [200, 404, 404]
    await shop.change("pro", {"plan": "basic"})
    await shop.change("basic", {"plan": "pro"})
    assert [await shop.opens("forecast", name) for name in PROPERTIES] == [404, 200, 404]


async def test_an_explanation_for_viewers_is_of_what_they_see(shop: Shop) -> None:
    """An operator's has all, with the conditions. Red when the conditions, or the panels, of another plan are in it."""
    folder, group = DashboardFolder(shop.folder / "dashboards"), shop.groups["basic"]
    async with data_sources(shop.store) as sources:
        found = await explain_dashboard(folder["sales"], group, sources)
        assert [each["id"] for each in found["panels"]] == ["1-1", "1-3"]
        assert (found["choices"], "when" in json.dumps(found)) == ([], False)
        with pytest.raises(NotFound):
            await explain_dashboard(folder["forecast"], group, sources)
        whole = await explain_dashboard(folder["sales"], group, sources, values=True)
        assert [each["id"] for each in whole["panels"]] == ["1-1", "1-2", "1-3", "2-1", "3-1"]
        assert whole["panels"][1]["when"] == {"property": "plan", "in": ["pro"], "holds": False}


# --- the mount --------------------------------------------------------------------------------------------------------


async def test_a_property_lists_the_dashboards(tmp_path: Path) -> None:
    """In addition to ``when``; a group without the property opens none. Red when a missing list allows all."""
    async for shop in with_may_open(tmp_path, "dashboards"):
        assert [await shop.opens("sales", name) for name in PROPERTIES] == [200, 404, 404]
        assert [await shop.opens("forecast", name) for name in PROPERTIES] == [404, 404, 404]
        menu = Access(DashboardFolder(shop.folder / "dashboards"), "dashboards")
        assert [menu.names(shop.groups[name]) for name in PROPERTIES] == [["sales"], [], []]
        assert "click" not in (await shop.lines("sales", "pro", definition=True))[0]["dashboard"]["rows"][0][0]
        assert "Sales" not in (await shop.client.get("/dashboards/sales")).text


async def test_a_function_decides(tmp_path: Path) -> None:
    """For each request; only True opens. Red when a coroutine, which is true, opens everything."""
    allowed = {("none", "sales")}

    def may_open(group: UserGroup, name: str) -> bool:
        return (group.provided_id, name) in allowed

    async for shop in with_may_open(tmp_path, may_open):
        assert [await shop.opens("sales", name) for name in PROPERTIES] == [404, 404, 200]
        allowed.add(("basic", "sales"))
        assert [await shop.opens("sales", name) for name in PROPERTIES] == [404, 200, 200]

    async def mistaken(group: UserGroup, name: str) -> bool:
        return False

    wrong: list[Any] = [mistaken, lambda group, name: mistaken]
    with pytest.raises(InvalidSettings, match="asynchronous"):
        Access({}, wrong[0])
    async for shop in with_may_open(tmp_path, wrong[1]):
        assert [await shop.opens("sales", name) for name in PROPERTIES] == [500, 500, 500]
