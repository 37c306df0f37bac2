"""The demo opens its own pages before it gives out their addresses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tenantry.demo import open_page, prepare_demo
from tests.demo.stage import Stage

URL = "http://127.0.0.1:8000"


async def test_a_page_is_opened_as_a_browser_does(stage: Stage) -> None:
    """Through the redirect, with its cookie: 200. Red when the cookie is left behind (401)."""
    assert await open_page(stage.app, f"{URL}/?USER_GROUP_TOKEN={stage.tokens['AA']}") == 200
    assert await open_page(stage.app, f"{URL}/?USER_GROUP_TOKEN={stage.unknown_token()}") == 401


def test_every_address_has_been_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is printed for a reader, and none fails. Red when the documentation is left out: 2 s for the first."""
    opened = {}

    async def watched(app: object, url: str) -> int:
        opened[url] = await open_page(demo.app, url)
        return opened[url]

    monkeypatch.setattr("tenantry.demo.open_page", watched)
    demo = prepare_demo(tmp_path, URL)

    async def whole() -> None:
        async with demo.app.router.lifespan_context(demo.app):
            await demo.open_pages(URL)

    asyncio.run(whole())
    text = demo.addresses(URL)
    assert f"{URL}/docs/" in opened
    assert len(opened) == 4
    assert [url for url in opened if url not in text] == []
    assert set(opened.values()) == {200}
