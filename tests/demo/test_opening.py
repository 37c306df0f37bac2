"""The demo opens its own pages before it gives out their addresses."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tenantry.demo import prepare_demo
from tenantry.testing import Call
from tenantry.testing.requests import send_request
from tests.demo.stage import PRODUCT_URL, URL, put_flights

pytestmark = pytest.mark.slow


def test_the_docs_and_the_dashboard_of_each_customer_have_been_opened(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None fails, and the printed link opens the editor. Red when the documentation is left out: 2 s for its first
    reader."""
    opened = []

    async def watched(app: Any, call: Any, *more: Any, **options: Any) -> Any:
        answer = await send_request(app, call, *more, **options)
        opened.append((call.path, answer.status, '"error"' in answer.text))
        return answer

    monkeypatch.setattr("tenantry.demo.send_request", watched)
    put_flights(tmp_path, tmp_path_factory)
    demo = prepare_demo(tmp_path, URL, PRODUCT_URL)

    statuses: list[int] = []
    pages: list[str] = []

    async def whole() -> None:
        async with demo.app.router.lifespan_context(demo.app):
            await demo.open_pages()
            link = re.search(rf"^  {URL}/editor/#code=([\w-]+)&environment=demo&group=UA$", demo.text, re.MULTILINE)
            assert link is not None
            call = Call("/editor/-/session", "POST", {"X-Tenantry-Editor": "1"}, json.dumps({"code": link[1]}).encode())
            statuses.append((await send_request(demo.app, call, None, {}, seconds=60)).status)
            call = Call("/", headers={"Host": PRODUCT_URL.removeprefix("http://")})
            pages.append((await send_request(demo.product, call, None, {}, seconds=60)).text)

    asyncio.run(whole())
    assert [path for path, *_ in opened] == ["/docs/", *["/dashboards/overview/-/panels"] * 3]
    assert statuses == [200]
    assert {status for _, status, _ in opened} == {200}
    assert [path for path, _, failed in opened[1:] if failed] == []
    assert f"{URL}/docs/" in demo.text
    assert PRODUCT_URL in demo.text
    assert f'data-dashboards="{URL}/dashboards"' in pages[0]
