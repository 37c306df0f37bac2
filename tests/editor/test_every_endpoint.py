"""Every route of the editor: who may use it, for which environments, and from which pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.routing import BaseRoute, Mount, Route

from tenantry.dashboards import StrictBody
from tenantry.editor import EditorAuthor, Right
from tenantry.editor.requests import EditorEndpoints
from tests.editor.served import EditorSite, served_editor

OPEN = {"/", "/-/assets/{address}", "/-/session"}
"""Routes that need no author: the page and its bundles have no data, and a link has its own code."""
APPS = {"/-/preview/{preview}"}
"""Apps below a path: test_previews.py tests who may use them."""
RIGHTS = {
    **dict.fromkeys(
        """state session/end files file file/new file/head format commit-message add-panel check variables catalogue
        meaning groups group""".split(),  # noqa: SIM905
        Right.VIEW,
    ),
    **dict.fromkeys(["file/save", "file/delete", "file/rename"], Right.SAVE),
    **dict.fromkeys(["run", "plan", "csv", "sample", "preview"], Right.RUN),
}
"""The right that each endpoint needs."""
SAMPLES = {
    "environment": "production",
    "group": "ua",
    "viewer": None,
    "path": "queries/by_day.sql",
    "to": "queries/other.sql",
    "dashboard": "dashboards/flights.yaml",
    "column": "flights",
    "kind": "line",
    "query": "by_day",
    "text": "select 1",
    "drafts": {},
    "schema": "main",
    "params": {},
    "revision": None,
    "search": "",
    "size": 2,
    "refresh": False,
    "unguarded": False,
}
"""A valid value of each field that a body may have."""


@dataclass(frozen=True)
class Endpoint:
    path: str
    model: type[StrictBody]
    right: Right


@dataclass(frozen=True)
class Everything:
    site: EditorSite
    routes: list[BaseRoute]
    endpoints: list[Endpoint]


@pytest.fixture
async def everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Everything]:
    made: list[Endpoint] = []
    post = EditorEndpoints.post

    def noted(self: Any, path: str, model: Any, handler: Any, *, right: Right = Right.VIEW, **options: Any) -> Route:
        made.append(Endpoint(path.removeprefix("/-/"), model, right))
        return post(self, path, model, handler, right=right, **options)

    monkeypatch.setattr(EditorEndpoints, "post", noted)
    async with served_editor(tmp_path) as site:
        (mounted,) = [each for each in site.app.routes if isinstance(each, Mount)]
        yield Everything(site, [each for each in mounted.routes if getattr(each, "path", None) not in APPS], made)


async def sent(site: EditorSite, route: BaseRoute, headers: dict[str, str]) -> httpx2.Response:
    assert isinstance(route, Route), f"{route} is not a single route: test here who may use what is below it"
    path = re.sub(r"\{[^}]*\}", "x", route.path)
    method = "POST" if "POST" in (route.methods or ()) else "GET"
    return await site.client.request(method, f"/editor{path}", headers=headers, json={} if method == "POST" else None)


async def test_every_route_needs_an_author(everything: Everything) -> None:
    """Red for a new route that does not ask EditorEndpoints for the author."""
    everything.site.author = None
    closed = [each for each in everything.routes if getattr(each, "path", None) not in OPEN]
    assert len(closed) >= len(everything.endpoints) > 0
    for route in closed:
        answer = await sent(everything.site, route, {"X-Tenantry-Editor": "1"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_author"), route


async def test_every_post_comes_from_the_editors_page(everything: Everything) -> None:
    """Red for a new route that neither checks the origin nor needs the header."""
    posts = [each for each in everything.routes if isinstance(each, Route) and "POST" in (each.methods or ())]
    assert len(posts) >= len(everything.endpoints)
    for route in posts:
        foreign = {"Sec-Fetch-Site": "cross-site", "X-Tenantry-Editor": "1"}
        assert (await sent(everything.site, route, foreign)).json()["error"]["code"] == "origin_not_allowed", route
        assert "X-Tenantry-Editor" in (await sent(everything.site, route, {})).json()["error"]["message"], route


async def test_every_endpoint_needs_its_right(everything: Everything) -> None:
    """Red for an endpoint that an author may use without the right that RIGHTS names, or without the right to view:
    responses to a save, a run and a preview may have texts of files."""
    needed = {each.path: each.right for each in everything.endpoints}
    assert needed == {path: RIGHTS.get(path) for path in needed}, "list new endpoints in RIGHTS"
    for path, right in needed.items():
        for missing in {right, Right.VIEW}:
            everything.site.author = EditorAuthor("eve", frozenset(Right) - {missing})
            answer = await everything.site.post(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "right_missing"), path
            assert missing in answer.json()["error"]["message"]


async def test_every_endpoint_is_limited_to_the_authors_environments(everything: Everything) -> None:
    """Red for an endpoint that looks for the environment without find_environment."""
    everything.site.author = EditorAuthor("eve", frozenset(Right), frozenset({"staging"}))
    for endpoint in everything.endpoints:
        fields = endpoint.model.model_fields
        if "environment" not in fields:
            continue
        required = [name for name, field in fields.items() if field.is_required() or name in {"environment", "group"}]
        assert set(required) <= set(SAMPLES), "list new fields in SAMPLES"
        answer = await everything.site.post(endpoint.path, **{name: SAMPLES[name] for name in required})
        error = answer.json()["error"]
        assert (error["code"], error["field"]) == ("right_missing", "/environment"), endpoint.path
        assert answer.status_code == 403


@pytest.mark.parametrize(
    "path", ["../../etc\npassword=hunter2", "queries/../app.yaml", "app.yaml", "queries/.a.sql", ""]
)
async def test_every_path_is_in_the_workspace(everything: Everything, path: str) -> None:
    """Red for an endpoint that uses or records a path without Workspace.require."""
    site = everything.site
    count = len(await site.store.audit.list(limit=1000))
    tested = set()
    for endpoint in everything.endpoints:
        fields = endpoint.model.model_fields
        name = "path" if "path" in fields else "dashboard"
        if name not in fields:
            continue
        required = {each for each, field in fields.items() if field.is_required()} | {"group"} & fields.keys()
        body = {each: SAMPLES[each] for each in required} | {name: path}
        answer = await site.post(endpoint.path, **body | ({"revision": "0"} if "revision" in fields else {}))
        assert (answer.status_code, answer.json()["error"].get("field")) == (422, f"/{name}"), endpoint.path
        tested.add(endpoint.path)
    assert tested >= {"run", "plan", "csv", "sample", "check", "meaning", "variables", "file/save", "preview"}
    assert len(await site.store.audit.list(limit=1000)) == count
