"""How an author comes in, in real browsers: a session on an address without TLS as ``tenantry edit`` has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from engines.either_browser import BOTH, either
from tenantry.editor import EditorAuthor, EditorSessions
from tenantry.groups import Author
from tests.editor.served import reachable, served_editor

SEND = """async ([path, body]) => {
  const headers = {"Content-Type": "application/json", "X-Tenantry-Editor": "1"};
  const answer = await fetch(`-/${path}`, {method: "POST", headers, body: JSON.stringify(body)});
  return [answer.status, await answer.json()];
}"""


browser = pytest.fixture(either, params=BOTH, name="browser")


async def test_one_browser_gets_the_session(browser: Browser, tmp_path: Path) -> None:
    """The page of the browser that opened the link may work, no script of it can read the cookie, and a second browser
    is told that the link was used. Red when the cookie's path or name does not fit."""
    async with served_editor(tmp_path, authors=None) as site, reachable(site) as url:
        code = await EditorSessions(site.store).issue(EditorAuthor("ann"), Author("operator"))
        first, second = [await (await browser.new_context(color_scheme="light")).new_page() for _ in range(2)]
        for page in (first, second):
            await page.goto(f"{url}/")
        assert (await first.evaluate(SEND, ["state", {}]))[0] == 401
        assert (await first.evaluate(SEND, ["session", {"code": code}]))[0] == 200
        status, state = await first.evaluate(SEND, ["state", {}])
        assert (status, state["author"]) == (200, "ann")
        assert await first.evaluate("document.cookie") == ""
        status, answer = await second.evaluate(SEND, ["session", {"code": code}])
        assert (status, answer["error"]["code"]) == (410, "code_used")
        assert (await second.evaluate(SEND, ["state", {}]))[0] == 401
        assert (await first.evaluate(SEND, ["session/end", {}]))[0] == 200
        assert (await first.evaluate(SEND, ["state", {}]))[0] == 401
        assert await first.context.cookies(url) == []


async def test_an_author_of_the_product_is_asked_to_sign_in(browser: Browser, tmp_path: Path) -> None:
    """Such an editor has no links. Red when the page, or the error, tells of one."""
    async with served_editor(tmp_path) as site, reachable(site) as url:
        site.author = None
        page = await (await browser.new_context(color_scheme="light")).new_page()
        await page.goto(f"{url}/")
        await expect(page.get_by_role("heading")).to_have_text("Please sign in", timeout=60_000)
        await expect(page.get_by_role("main")).to_contain_text("then reload this page")
        assert "link" not in await page.get_by_role("main").inner_text()
