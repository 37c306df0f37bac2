"""A dashboard's file with its preview, and a panel that is added to it."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Route, expect

from tests.editor.page.conftest import Visit, text_of, until, write
from tests.editor.page.stand_in import DASHBOARD, GROUPS, QUERY, StandIn, refusal


async def test_the_preview_follows_typing(stand_in: StandIn, visit: Visit) -> None:
    """As the chosen group, with text that is not saved. Red when the preview shows the saved file, and when the frame
    is loaded anew for each draft."""
    seen = await visit()
    page = seen.page
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    heading = page.frame_locator(".preview iframe").get_by_role("heading")
    await expect(heading).to_have_text("The dashboard as shown")
    assert stand_in.bodies("preview")[-1] == {
        "dashboard": DASHBOARD,
        "drafts": {},
        "environment": "production",
        "group": "ua",
        "viewer": None,
        "preview": None,
    }
    await write(page, "title: Typed\n")
    await until(lambda: stand_in.last("preview").get("drafts") == {DASHBOARD: "title: Typed\n"})
    assert stand_in.bodies("preview")[-1]["preview"] == "p1"
    await expect(page.locator(".preview")).to_contain_text("As United Air Lines, with text that is not saved")
    await expect(page.locator(".preview iframe")).to_have_attribute("src", "/shown")
    assert seen.console == []
    assert await seen.violations() == []


async def test_typing_after_a_save_is_marked(stand_in: StandIn, visit: Visit) -> None:
    """Red when the marks compare with what was typed before the save, and when "Saved" stays."""
    page = (await visit()).page
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("flights.yaml")
    places = [page.locator(".tab[aria-current]"), page.locator(f".file[data-path='{DASHBOARD}']")]
    for text in ("title: One\n", "title: Two\n"):
        await write(page, text)
        for place in places:
            await expect(place).to_contain_text("not saved")
        await expect(page.locator(".command-word")).to_have_text("")
        await page.keyboard.press("ControlOrMeta+s")
        await expect(page.locator(".command-word")).to_have_text("Saved")
        for place in places:
            await expect(place).not_to_contain_text("not saved")
    await page.locator(f".file[data-path='{QUERY}']").click()
    await expect(page.locator(".command-word")).to_have_text("")


async def test_a_preview_that_fails_keeps_the_last_one(stand_in: StandIn, visit: Visit) -> None:
    """Red when a mistake while typing empties the preview."""
    page = (await visit()).page
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await page.locator(".preview iframe").wait_for()
    stand_in.answers["preview"] = refusal(422, "invalid_dashboard", "Line 2: rows is missing.")
    await write(page, "title:\n")
    await expect(page.locator(".preview")).to_contain_text("Line 2: rows is missing.")
    await expect(page.locator(".preview iframe")).to_be_visible()


async def test_a_preview_that_is_loaded_anew_keeps_its_place(stand_in: StandIn, visit: Visit) -> None:
    """As on an address without https, and for another group; also where a shorter one was between. Red when it begins
    at its head, and when only the place in the frame before counts."""
    stand_in.answers["preview"] = lambda body: {"preview": "p", "address": f"/shown?{body['group']}", "seconds": 3_000}
    page = (await visit()).page
    await page.route("**/shown?ha", lambda route: route.fulfill(body="Short", content_type="text/html"))
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    inside = page.frame_locator(".preview iframe").locator("html")

    async def at(group: str, top: int) -> bool:
        found: list[Any] = await inside.evaluate("() => [location.search, scrollY, document.readyState]")
        return found == [f"?{group}", top, "complete"]

    await until(lambda: at("ua", 0))
    await inside.evaluate("() => scrollTo(0, 700)")
    for group, top in (("b6", 700), ("ha", 0), ("ua", 700)):
        await page.get_by_role("button", name="As ").first.click()
        await page.get_by_role("option", name=GROUPS[group]).click()
        await until(lambda group=group, top=top: at(group, top))


async def test_an_author_who_scrolls_stays_there(stand_in: StandIn, visit: Visit) -> None:
    """Before all of the frame has come. Red when its end puts the frame where it was to begin."""
    page = (await visit()).page
    late: list[Route] = []
    await page.route("**/late.png", lambda route: late.append(route))
    body = "<!doctype html><div style=height:3000px></div><img src=/late.png>"
    await page.route("**/shown", lambda route: route.fulfill(body=body, content_type="text/html"))
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    inside = page.frame_locator(".preview iframe").locator("html")
    await until(lambda: late)
    await inside.evaluate("() => scrollTo(0, 500)")
    await late[0].abort()
    await until(lambda: inside.evaluate("() => document.readyState === 'complete'"))
    await inside.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await inside.evaluate("() => scrollY") == 500


async def test_a_problem_does_not_hide_the_line_that_has_it(stand_in: StandIn, visit: Visit) -> None:
    """The list of problems takes room from the text. Red when the text does not scroll by as much."""
    stand_in.files[DASHBOARD] += "# a line\n" * 60
    page = (await visit()).page
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("flights.yaml")
    await page.locator("tenantry-code").click()
    await page.keyboard.press("ControlOrMeta+End")
    await page.keyboard.type("# wrong")
    await page.get_by_label("Problems").wait_for()
    await expect(page.locator(".cm-activeLineGutter", has_text="64")).to_be_in_viewport(ratio=1)


async def test_a_panel_of_a_query_is_added(stand_in: StandIn, visit: Visit) -> None:
    """The dashboard opens with it, not saved yet, and the cursor is in its line. Saving it offers to save the query
    first. Red when it is written to the file at once, when the file opens at its first line, and when the dashboard is
    saved without the query that it names."""
    before = stand_in.files[DASHBOARD] + "  - {line: flights, by: day, query: by_day}\n" * 90
    stand_in.files[DASHBOARD] = before
    page = (await visit()).page
    typed = "select day, 7 as flights"
    await write(page, typed)
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Add a panel of this query…").click()
    dialog = page.get_by_role("dialog", name="Add a panel of this query")
    await dialog.get_by_label("Kind").select_option("bars")
    await dialog.get_by_role("button", name="Add").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("flights.yaml")
    panel = {"query": QUERY, "kind": "bars", "column": "flights", "by": "day"}
    await expect(dialog).to_be_hidden()
    assert stand_in.bodies("add-panel") == [{"dashboard": DASHBOARD, "text": before} | panel]
    assert (await text_of(page)).endswith("{bars: flights, by: day, query: queries/by_day.sql}\n")
    await expect(page.locator("tenantry-code")).to_be_focused()
    await expect(page.locator(".cm-activeLineGutter", has_text="94")).to_be_in_viewport()
    await page.keyboard.press("ControlOrMeta+s")
    question = page.get_by_role("dialog", name="Save by_day.sql, too?")
    await question.wait_for()
    assert stand_in.files[DASHBOARD] == before
    await question.get_by_role("button", name="Save all").click()
    await expect(page.locator(".command-word")).to_have_text("Saved")
    assert [body["path"] for body in stand_in.bodies("file/save")] == [QUERY, DASHBOARD]
    assert stand_in.files[QUERY] == typed
