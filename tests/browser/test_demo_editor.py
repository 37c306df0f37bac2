"""An analyst of the demo ships a panel without leaving the browser, and the customers of the product see it."""

from __future__ import annotations

from playwright.async_api import Frame, FrameLocator, Locator, Page, expect

from engines.chromium import OpenPage
from tests.browser.conftest import Served
from tests.browser.embedding.frames import until

SECONDS = 60
QUERY = "select origin, count(*) as flights from departures group by origin order by flights desc"
MINE = ("UA", "B6")
FIRST = {"UA": "46,087", "B6": "42,076"}
"""The flights of the first row, by airline."""


async def test_a_panel_is_written_previewed_as_two_airlines_and_shipped(open_page: OpenPage, demo: Served) -> None:
    """The query names no airline: the guarded table does. Red when the demo serves the packed files, when a run or a
    preview is of another group than the chosen one, and when the product needs a restart."""
    seen, product = await open_page(), await open_page()
    page = seen.page
    expect.set_options(timeout=SECONDS * 1_000)
    await product.page.goto(f"{demo.product}/#delays")
    await product.page.get_by_label("Customer").select_option("UA")
    shown = await dashboard(product.page, demo)
    await expect(panels(shown)).not_to_have_count(0)
    before = await panels(shown).count()

    await page.goto(demo.link)
    await page.get_by_role("button", name="New file in Queries").click()
    await page.get_by_label("Path").fill("queries/airports_by_flights.sql")
    await page.get_by_role("button", name="Create").click()
    await write(page, QUERY)
    for airline in MINE:
        await choose(page, airline)
        await page.keyboard.press("ControlOrMeta+Enter")
        await expect(page.locator(".rows tbody tr").first).to_contain_text(FIRST[airline])
    await page.keyboard.press("ControlOrMeta+s")
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Add a panel of this query…").click()
    dialog = page.get_by_role("dialog", name="Add a panel of this query")
    await dialog.get_by_label("Dashboard").select_option("dashboards/delays.yaml")
    await dialog.get_by_label("Kind").select_option("Key figure")
    await dialog.get_by_role("button", name="Add").click()
    preview = page.frame_locator(".preview iframe")
    for airline in MINE:
        await choose(page, airline)
        await expect(panels(preview).last).to_contain_text(FIRST[airline])
    assert await panels(shown).count() == before
    await page.keyboard.press("ControlOrMeta+s")

    await expect(panels(shown)).to_have_count(before + 1)
    await product.page.bring_to_front()
    await panels(shown).last.scroll_into_view_if_needed()  # a panel that nobody sees is not asked for
    await expect(panels(shown).last).to_contain_text(FIRST["UA"])
    assert (seen.console, await seen.violations()) == ([], [])


async def dashboard(page: Page, demo: Served) -> Frame:
    """The frame of the product's page. It is in a closed shadow root."""

    async def found() -> Frame | None:
        return next((each for each in page.frames if each.url.startswith(f"{demo.url}/dashboards/delays")), None)

    frame: Frame = await until(found, "the frame of the product")
    return frame


def panels(frame: Frame | FrameLocator) -> Locator:
    return frame.locator("[data-panel]")


async def write(page: Page, text: str) -> None:
    await page.evaluate("document.querySelector('tenantry-code').focus()")
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.insert_text(text)


async def choose(page: Page, airline: str) -> None:
    control = page.locator("header .group-control")
    await control.locator(".choice").click()
    await control.get_by_role("combobox", name="Search by name or id").fill(airline)
    await control.get_by_role("option").filter(has_text=airline).first.click()
    await page.evaluate("document.querySelector('tenantry-code').focus()")
