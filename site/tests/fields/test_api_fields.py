"""The fields of API pages, from the text of the file to what a browser shows. docs/site-fields.md names these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route

from engines.chromium import OpenPage
from tenantry_site import SiteOptions
from tests.fields.stage import DOCUMENT, made, visit

SIDEBAR = ".sidebar .pages a"
ONE = "https://one.example/v1"


async def test_openapi(open_page: OpenPage, tmp_path: Path) -> None:
    """One document or several, in JSON and YAML, 3.0 and 3.1; pages for the document of a tab that no page names."""
    tab = {"name": "More", "url": "more", "openapi": "/more.yaml"}
    out = made(tmp_path, openapi=["things.json", "/more.yaml"], tabs=[tab], api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/list")).page
    assert await page.locator("h1").inner_text() == "List things"
    assert "zebra" in await page.locator("article").inner_text()
    [generated] = [path for path in out.rglob("*.html") if "<h1>More of them" in path.read_text("utf-8")]
    await page.goto(f"file://{generated}")
    assert await page.locator("h1").inner_text() == "More of them"
    assert await page.locator(f"{SIDEBAR}[aria-current=page]").inner_text() == "GET\nMore of them"


async def test_openapi_as_one_text(open_page: OpenPage, tmp_path: Path) -> None:
    page = (await visit(open_page, made(tmp_path, openapi="./things.json", api={"baseUrl": ONE}), "api/make")).page
    assert await page.locator("h1").inner_text() == "Make a thing"


async def test_openapi_by_its_web_address(open_page: OpenPage, tmp_path: Path) -> None:
    """Drawn from what was fetched before. Red when a document is taken from the folder alone."""
    address = "https://one.example/openapi.json"
    fetched = SiteOptions(documents={address: json.dumps(DOCUMENT)})
    out = made(tmp_path, fetched, openapi=address, api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/make")).page
    assert await page.locator("h1").inner_text() == "Make a thing"


async def test_openapi_of_a_tab(open_page: OpenPage, tmp_path: Path) -> None:
    """Its pages take their operations from it, and it makes pages in its folder. Red when the field is passed over."""
    tab = {"name": "API", "url": "api", "openapi": "things.json"}
    out = made(tmp_path, tabs=[tab], api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/make")).page
    assert await page.locator("h1").inner_text() == "Make a thing"


async def curl(page: Page) -> str:
    return await page.locator("[data-snippets] pre code").first.inner_text()


async def test_api_base_url(open_page: OpenPage, tmp_path: Path) -> None:
    """Before the path of every endpoint."""
    out = made(tmp_path, openapi="things.json", api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/plain")).page
    assert f"{ONE}/plain/" in await curl(page)
    assert await page.locator("[data-bases]").count() == 0
    await page.goto(page.url.replace("plain", "make"))
    assert f"{ONE}/things'" in await curl(page)


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
    ({"method": "key", "name": "Authorization", "inputPrefix": "Token "}, [""], "Authorization: Token <AUTHORIZATION>"),
]


@pytest.mark.parametrize(("auth", "values", "written"), AUTHS, ids=lambda case: str(case))
async def test_api_auth(
    open_page: OpenPage, tmp_path: Path, auth: dict[str, Any], values: list[str], written: str
) -> None:
    """``method`` decides the fields, ``name`` their names, ``inputPrefix`` stands before the field."""
    page = (await visit(open_page, made(tmp_path, api={"baseUrl": ONE, "auth": auth}), "api/plain")).page
    fields = await page.locator("[data-credential]").all()
    assert [await field.input_value() for field in fields] == values
    assert written in await curl(page)
    words = await page.locator("[data-try]").inner_text()
    for name in auth.get("name", "").split(":"):
        assert name in words


SENT = [
    ({"method": "bearer"}, ["s3cret"], "Bearer s3cret"),
    ({"method": "basic", "name": "account:secret"}, ["me", "it:s"], "Basic bWU6aXQ6cw=="),
    ({"method": "key", "name": "X-Api-Key"}, ["s3cret"], "s3cret"),
    ({"method": "key", "name": "Authorization", "inputPrefix": "Token "}, ["s3cret"], "Token s3cret"),
    ({"method": "key", "name": "Authorization", "inputPrefix": "Token "}, ["Token s3cret"], "Token s3cret"),
    ({"method": "basic", "name": "account:secret", "inputPrefix": "acme/"}, ["me", "it:s"], "Basic YWNtZS9tZTppdDpz"),
]


@pytest.mark.parametrize(("auth", "typed", "header"), SENT, ids=lambda case: str(case))
async def test_api_in_the_request(
    open_page: OpenPage, tmp_path: Path, auth: dict[str, Any], typed: list[str], header: str
) -> None:
    """What is sent goes to the base URL that was chosen, signed as the file says, and nothing else is asked.

    Red when the script takes the <ParamField> of the page's text for an input.
    """
    bases = {"baseUrl": [ONE, "https://two.example"], "auth": auth}
    seen = await visit(open_page, made(tmp_path, api=bases), "api/plain")
    page = seen.page

    async def answer(route: Route) -> None:
        await route.fulfill(json={"ok": True}, headers={"Access-Control-Allow-Origin": "*"})

    await page.route("https://two.example/**", answer)
    await page.locator("[data-bases]").select_option(index=1)
    for field, text in zip(await page.locator("[data-credential]").all(), typed, strict=True):
        await field.fill(text)
    await page.get_by_label("id string required").fill("7")
    assert "https://two.example/plain/7" in await curl(page)
    await page.get_by_role("button", name="Send").click()
    await page.locator("[data-answer] .status").wait_for(timeout=60_000)
    assert seen.hosts() == {"two.example"}
    [sent] = [each for each in seen.requests if each.method == "GET" and "two.example" in each.url]
    assert sent.url == "https://two.example/plain/7"
    assert sent.headers[auth["name"].lower() if auth["method"] == "key" else "authorization"] == header
    assert await seen.violations() == []


async def test_api_auth_prefix_is_reported(open_page: OpenPage, tmp_path: Path) -> None:
    """It stands before the field, and in the text of the page. Red when only the field has it."""
    auth = {"method": "key", "name": "Authorization", "inputPrefix": "Token "}
    page = (await visit(open_page, made(tmp_path, api={"baseUrl": ONE, "auth": auth}), "api/plain")).page
    assert await page.locator(".try-prefix code").inner_text() == "Token "
    field = page.locator("[data-credential]")
    assert await field.evaluate("(f) => document.getElementById(f.getAttribute('aria-describedby')).textContent") == (
        "Begins with Token "
    )
    assert "It begins with Token." in await page.locator("article .ways").inner_text()


async def test_versions_and_api_pages(open_page: OpenPage, tmp_path: Path) -> None:
    """What is marked with its versions is not what is marked as a parameter. Red when both have one mark."""
    out = made(tmp_path, versions=["v2", "v1"], openapi="things.json", api={"baseUrl": ONE})
    page = (await visit(open_page, out, "api/plain")).page
    assert await page.locator("#param-id").is_visible()
    assert await page.get_by_label("id string required").is_visible()
    await page.goto(page.url.replace("plain", "list"))
    assert await page.get_by_label("zebra").is_visible()


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
