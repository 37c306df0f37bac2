"""The editor in apps of other frameworks, below a prefix, and within the middleware of the whole app."""

from __future__ import annotations

import re
import secrets
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.editor import EditorAuthor, EditorSessions, mount_editor
from tenantry.groups import Author
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey
from tests.dashboards.mounts import MOUNTS, Mounting
from tests.editor.served import served_editor


@pytest.mark.parametrize("mounting", MOUNTS, ids=[each.name for each in MOUNTS])
async def test_the_editor_works_wherever_it_is_mounted(mounting: Mounting, tmp_path: Path) -> None:
    """Its page, its bundles, a session for the path that browsers see, and errors as JSON. Red when the page or the
    cookie names the path without the prefix, and when the address without the slash is that of Starlette, which says
    http:// behind a proxy with TLS, or is unknown where another route matches it."""
    async with served_editor(tmp_path) as site:
        resolver = Resolver(site.store, keys=KeyRing([SigningKey("k1", secrets.token_bytes(32))]))

        def mount(app: Any) -> None:
            mount_editor(app, tmp_path / "dashboards", resolver, site.sources, path="/internal/editor")

        app, path = mounting.build(resolver, mount), f"{mounting.prefix}/internal/editor"
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://testserver") as client:
            bare = await client.get(f"{path}?x=1")
            assert (bare.status_code, bare.headers["location"]) == (308, "./editor/?x=1")
            page = (await client.get(f"{path}/")).text
            assert f'name="tenantry-mount" content="{path}"' in page
            script = re.search(r'src="([^"]+)"', page)
            assert script is not None
            assert (await client.get(script[1])).status_code == 200

            headers = {"X-Tenantry-Editor": "1"}
            refused = await client.post(f"{path}/-/state", json={}, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "no_author")
            code = await EditorSessions(site.store).issue(EditorAuthor("ann"), Author("operator"))
            opened = await client.post(f"{path}/-/session", json={"code": code}, headers=headers)
            (cookie,) = SimpleCookie(opened.headers["set-cookie"]).values()
            assert cookie["path"] == path
            headers["Cookie"] = f"{cookie.key}={cookie.value}"
            state = await client.post(f"{path}/-/state", json={}, headers=headers)
            assert state.json()["author"] == "ann"
