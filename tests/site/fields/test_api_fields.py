"""The fields of API pages, from the text of the file to what a browser shows. docs/site-fields.md names these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.engines.chromium import OpenPage
from tests.site.fields.stage import made, visit

ONE = "https://one.example/v1"


async def test_openapi(open_page: OpenPage, tmp_path: Path) -> None:
    """One document or several, in JSON and YAML, 3.0 and 3.1; pages for a document that no page names."""
    out = made(tmp_path, openapi=["things.json", "/more.yaml"], api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/list")).page
    assert await page.locator("h1").inner_text() == "List things"
    assert "zebra" in await page.locator("article").inner_text()
    generated = [path for path in out.rglob("*.html") if "More of them" in path.read_text("utf-8").split("</h1>")[0]]
    assert len([path for path in generated if "<h1>More of them" in path.read_text("utf-8")]) == 1


async def test_openapi_as_one_text(open_page: OpenPage, tmp_path: Path) -> None:
    page = (await visit(open_page, made(tmp_path, openapi="./things.json", api={"baseUrl": ONE}), "api/make")).page
    assert await page.locator("h1").inner_text() == "Make a thing"


async def curl(page: Page) -> str:
    return await page.locator("[data-snippets] pre code").first.inner_text()


async def test_api_base_url(open_page: OpenPage, tmp_path: Path) -> None:
    """Before the path of every endpoint."""
    page = (await visit(open_page, made(tmp_path, api={"baseUrl": ONE}), "api/plain")).page
    assert f"{ONE}/plain/" in await curl(page)
    assert await page.locator("[data-bases]").count() == 0


async def test_api_base_urls(open_page: OpenPage, tmp_path: Path) -> None:
    """Several are for the reader to choose from; the choice is kept."""
    out = made(tmp_path, api={"baseUrl": [ONE, "https://two.example"]})
    page = (await visit(open_page, out, "api/plain")).page
    assert f"{ONE}/plain/" in await curl(page)
    await page.locator("[data-bases]").select_option(index=1)
    assert "https://two.example/plain/" in await curl(page)
    await page.reload()
    assert "https://two.example/plain/" in await curl(page)


AUTHS: list[tuple[dict[str, str], list[str], str]] = [
    ({"method": "bearer"}, [""], "Authorization: Bearer"),
    ({"method": "basic", "name": "account:secret"}, ["", ""], "--user"),
    ({"method": "key", "name": "X-Api-Key"}, [""], "X-Api-Key:"),
    ({"method": "key", "name": "Authorization", "inputPrefix": "Token "}, ["Token "], "Authorization: Token "),
]


@pytest.mark.parametrize(("auth", "values", "written"), AUTHS, ids=lambda case: str(case))
async def test_api_auth(
    open_page: OpenPage, tmp_path: Path, auth: dict[str, Any], values: list[str], written: str
) -> None:
    """``method`` decides the fields, ``name`` their names, ``inputPrefix`` what they begin with."""
    page = (await visit(open_page, made(tmp_path, api={"baseUrl": ONE, "auth": auth}), "api/plain")).page
    fields = await page.locator("[data-credential]").all()
    assert [await field.input_value() for field in fields] == values
    assert written in await curl(page)
    words = await page.locator("[data-try]").inner_text()
    for name in auth.get("name", "").split(":"):
        assert name in words


MODES = [("show", 1, True), ("simple", 0, True), ("hide", 0, False)]


@pytest.mark.parametrize(("mode", "forms", "whole"), MODES)
async def test_api_playground_mode(open_page: OpenPage, tmp_path: Path, mode: str, forms: int, whole: bool) -> None:
    """A form, the endpoint's address alone, or neither; what the call takes is described in all three."""
    out = made(tmp_path, openapi="things.json", api={"baseUrl": ONE, "playground": {"mode": mode}})
    page = (await visit(open_page, out, "api/list")).page
    assert await page.locator("[data-try]").count() == forms
    assert await page.get_by_role("button", name="Send").count() == forms
    assert (await page.locator(".endpoint-base").count() > 0) == whole
    assert "zebra" in await page.locator("article").inner_text()


@pytest.mark.parametrize(("maintain", "first"), [(True, "zebra"), (False, "apple")])
async def test_api_maintain_order(open_page: OpenPage, tmp_path: Path, maintain: bool, first: str) -> None:
    """Keys in the order of the document, or sorted."""
    out = made(tmp_path, openapi="things.json", api={"baseUrl": ONE, "maintainOrder": maintain})
    text = await (await visit(open_page, out, "api/make")).page.locator("article").inner_text()
    last = "apple" if first == "zebra" else "zebra"
    assert text.index(first) < text.index(last)
