"""The demo's editor: an analyst writes a query, previews it as two airlines and ships a panel, all in the browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Frame, Page, expect

from engines.chromium import OpenPage
from tests.browser.conftest import Served
from tests.browser.embedding.frames import until

PATIENCE = 60_000
QUERY = "select count(*) as all_flights from flights where carrier = {{ user_group.properties.carrier }}"


async def choose(page: Page, group: str) -> None:
    """Searches a group by its name and takes it."""
    await page.locator(".group-control .choice").first.click()
    await page.get_by_role("combobox").fill(group)
    await page.get_by_role("option", name=group).click()
    await expect(page.get_by_role("button", name=f"As {group}")).to_be_visible()


@pytest.mark.slow
async def test_an_analyst_ships_a_panel(open_page: OpenPage, demo: Served) -> None:
    """The product shows it to its customers, each with the own number, without a restart, also on a page that was open
    before. Red when any step of it fails, when the demo reads its files once, and when an open page freezes."""
    expect.set_options(timeout=PATIENCE)
    seen = await open_page()
    page, product = seen.page, (await open_page()).page
    await product.goto(f"{demo.product}/#delays")
    await product.get_by_label("Customer").select_option("UA")

    async def product_frame() -> Frame:
        """It is in a closed shadow root."""
        find = f"{demo.url}/dashboards/delays"

        async def found() -> Frame | None:
            return next((each for each in product.frames if each.url.startswith(find)), None)

        frame: Frame = await until(found, "the frame of the product")
        return frame

    await expect((await product_frame()).locator(".figure-value")).to_have_count(3)
    await page.goto(demo.editor)
    await page.get_by_role("button", name="New file in Queries").click()
    await page.get_by_label("Path").fill("queries/all_flights.sql")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("all_flights.sql")
    await page.locator("tenantry-code").click()
    await page.keyboard.type(QUERY)
    for group, flights in (("United Air Lines", "58,665"), ("Hawaiian Airlines", "342")):
        await choose(page, group)
        await page.keyboard.press("ControlOrMeta+Enter")
        await expect(page.locator(".facts")).to_contain_text(f"As {group}")
        await expect(page.locator(".rows tbody tr")).to_have_text(flights)
    await page.keyboard.press("ControlOrMeta+s")
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Add a panel of this query…").click()
    dialog = page.get_by_role("dialog", name="Add a panel of this query")
    await dialog.get_by_label("Dashboard").select_option("dashboards/delays.yaml")
    await dialog.get_by_label("Kind").select_option("figure")
    await dialog.get_by_role("button", name="Add").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("delays.yaml")
    preview = page.frame_locator(".preview iframe").locator(".figure-value").last
    await expect(preview).to_have_text("342")
    await choose(page, "United Air Lines")
    await expect(preview).to_have_text("58,665")
    await page.keyboard.press("ControlOrMeta+s")
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    assert seen.console == []
    assert await seen.violations() == []

    figure = (await product_frame()).locator(".figure-value").last  # of the page that was open all the while
    await figure.scroll_into_view_if_needed()
    await expect(figure).to_have_text("58,665")
    await product.get_by_label("Customer").select_option("HA")

    async def shown() -> bool:
        figures = [frame.locator(".figure-value") for frame in product.frames if frame.url.startswith(demo.url)]
        return any(["342" in await each.all_inner_texts() for each in figures])

    await until(shown, "the new panel of HA")
