"""The whole editor with the real server, in real browsers: an author comes in by a session on an address without TLS as
``tenantry edit`` has it, writes a query, runs it as two airlines, saves it and puts it on a dashboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from engines.chromium import NOTE_VIOLATIONS, watch
from engines.either_browser import BOTH, IN_CHROMIUM, either
from tenantry.editor import EditorAuthor, EditorSessions
from tenantry.groups import Author
from tests.editor.page.conftest import PATIENCE, shows, until
from tests.editor.served import reachable, served_editor

SEND = """async ([path, body]) => {
  const headers = {"Content-Type": "application/json", "X-Tenantry-Editor": "1"};
  const answer = await fetch(`-/${path}`, {method: "POST", headers, body: JSON.stringify(body)});
  return [answer.status, await answer.json()];
}"""


browser = pytest.fixture(either, scope="module", params=BOTH, name="browser")


async def test_an_author_ships_a_panel_without_leaving_the_browser(browser: Browser, tmp_path: Path) -> None:
    """Each step against the real endpoints, with a clean console. Red when the page and an endpoint disagree."""
    async with served_editor(tmp_path, authors=None) as site, reachable(site) as url:
        code = await EditorSessions(site.store).issue(EditorAuthor("ann"), Author("operator"))
        context = await browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
        await context.add_init_script(NOTE_VIOLATIONS)
        seen = await watch(await context.new_page())
        page = seen.page
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(f"{url}/#code={code}&environment=production&group=ua")
        await expect(page.get_by_role("button", name="As Airline UA")).to_be_visible()
        await expect(page.locator(".tab[aria-current]")).to_contain_text("by_day.sql")
        typed = (
            "select route, count(*) as flights from flights "
            "where carrier = {{ user_group.properties.carrier }} group by route order by flights desc"
        )
        await page.locator("tenantry-code").click()
        await page.keyboard.press("ControlOrMeta+a")
        await page.keyboard.type(typed)
        await shows(page, typed)
        await page.keyboard.press("ControlOrMeta+Enter")
        await page.locator(".rows tbody tr").first.wait_for()
        await expect(page.locator(".facts")).to_contain_text("As Airline UA")
        await page.get_by_role("tab", name="Bound SQL").click()
        await expect(page.locator(".bound")).to_contain_text("UA")
        await page.get_by_role("tab", name="Compare").click()
        await page.get_by_role("button", name="Compare with").click()
        await page.get_by_role("option", name="Airline HA").click()
        await expect(page.locator(".side")).to_have_count(2)
        await page.get_by_role("tab", name="Plan").click()
        await expect(page.locator(".plan pre")).to_be_visible()
        await page.get_by_role("tab", name="Sample").click()
        await page.get_by_role("button", name="Run for a sample").click()
        await expect(page.locator(".sample")).to_contain_text("0 failed")
        await page.locator("tenantry-code").click()
        await page.keyboard.press("ControlOrMeta+s")
        await until(lambda: (tmp_path / "queries" / "by_day.sql").read_text().rstrip() == typed)
        await page.get_by_role("button", name="Menu of the file").click()
        await page.get_by_role("menuitem", name="Add a panel of this query…").click()
        dialog = page.get_by_role("dialog", name="Add a panel of this query")
        await dialog.get_by_label("Kind").select_option("bars")
        await dialog.get_by_role("button", name="Add").click()
        await expect(page.locator(".tab[aria-current]")).to_contain_text("flights.yaml")
        panels = page.frame_locator(".preview iframe").locator(".panel[data-state=ready]")
        await expect(panels.last).to_be_visible()
        await page.locator("tenantry-code").click()
        await page.keyboard.press("ControlOrMeta+s")
        await until(lambda: "by: route" in (tmp_path / "dashboards" / "flights.yaml").read_text())
        assert seen.console == []
        assert await seen.violations() == []


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


@IN_CHROMIUM
async def test_an_author_of_the_product_is_asked_to_sign_in(browser: Browser, tmp_path: Path) -> None:
    """Such an editor has no links. Red when the page, or the error, tells of one."""
    async with served_editor(tmp_path) as site, reachable(site) as url:
        site.author = None
        page = await (await browser.new_context(color_scheme="light")).new_page()
        await page.goto(f"{url}/")
        await expect(page.get_by_role("heading")).to_have_text("Please sign in", timeout=60_000)
        await expect(page.get_by_role("main")).to_contain_text("then reload this page")
        assert "link" not in await page.get_by_role("main").inner_text()
