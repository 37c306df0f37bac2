"""As whom queries run: the search of groups, viewers, two groups beside each other, a sample, earlier runs."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.editor.page.conftest import Visit, reload, shows, until, write
from tests.editor.page.stand_in import GROUPS, StandIn, run_lines

pytestmark = pytest.mark.slow


async def test_a_group_is_found_by_keys(stand_in: StandIn, visit: Visit) -> None:
    """Type, arrow keys, Enter: then queries run as it, and a reload remembers it. Rows of the group before are marked.
    Red when Enter takes the first one whatever the arrow keys marked, also before the answer to what was typed, and
    when nothing says whose rows these are."""
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".facts")).to_contain_text("As United Air Lines")
    old = page.locator(".facts .warning")
    await expect(old).to_have_count(0)
    await page.get_by_role("button", name="As United Air Lines").press("Enter")
    search = page.get_by_role("combobox", name="Search by name or id")
    await expect(search).to_be_focused()
    await expect(page.get_by_role("option")).to_have_count(3)
    stand_in.held.add("groups")
    await page.keyboard.type("t")
    await page.keyboard.press("ArrowDown")
    stand_in.held.clear()
    await expect(page.get_by_role("option")).to_have_count(2)
    await page.keyboard.press("Enter")
    button = page.get_by_role("button", name="As JetBlue Airways")
    await expect(button).to_be_focused()
    await expect(old).to_have_text("Not as JetBlue Airways: run the query again")
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".facts")).to_contain_text("As JetBlue Airways")
    await until(lambda: stand_in.last("run").get("group") == "b6")
    await expect(old).to_have_count(0)
    await reload(page)
    await expect(button).to_be_visible()


async def test_enter_waits_for_what_was_typed(stand_in: StandIn, visit: Visit) -> None:
    """Red when it takes the first group of the list of before: queries then ran as another one than was typed."""
    page = (await visit()).page
    await page.get_by_role("button", name="As United Air Lines").click()
    await expect(page.get_by_role("option")).to_have_count(3)
    stand_in.held.add("groups")
    await page.keyboard.type("jet")
    await page.keyboard.press("Enter")
    stand_in.held.clear()
    await expect(page.get_by_role("button", name="As JetBlue Airways")).to_be_focused()


async def test_groups_are_searched_at_the_server(stand_in: StandIn, visit: Visit) -> None:
    """There may be 100,000: a page of them at a time, and the next by a word of the list. Red when the page searches in
    what it has."""
    many = [{"id": f"g{place}", "name": f"Group {place}"} for place in range(50)]

    def groups(body: dict[str, object]) -> dict[str, object]:
        if body.get("after"):
            return {"groups": many[25:], "more": False, "after": None}
        return {"groups": many[:25], "more": True, "after": 25}

    stand_in.answers["groups"] = groups
    stand_in.answers["group"] = lambda body: {"id": body["group"], "name": "Group 0", "schemas": ["main"]}
    page = (await visit()).page
    await page.get_by_role("button", name="As Group 0").click()
    await expect(page.get_by_role("option")).to_have_count(26)
    await page.get_by_role("combobox").fill("group")
    await until(lambda: stand_in.last("groups").get("search") == "group")
    await page.get_by_role("option", name="Show more").click()
    await expect(page.get_by_role("option")).to_have_count(50)
    assert stand_in.bodies("groups")[-1]["after"] == 25


async def test_a_viewer_has_attributes(stand_in: StandIn, visit: Visit) -> None:
    """Numbers and lists keep their type; without any there is no viewer. The browser keeps none. Red when all are sent
    as strings, and when the choice is kept with them."""
    page = (await visit()).page
    await page.get_by_role("button", name="Viewer None").click()
    panel = page.get_by_role("dialog", name="Viewer")
    await panel.get_by_label("id", exact=True).fill("17")
    await panel.get_by_label("Attribute", exact=True).last.fill("region")
    await panel.get_by_label("Value of the attribute").first.fill("eu")
    await panel.get_by_label("Attribute", exact=True).last.fill("level")
    await panel.get_by_label("Value of the attribute").nth(1).fill("3")
    await page.keyboard.press("ControlOrMeta+Enter")
    await until(lambda: stand_in.bodies("run"))
    assert stand_in.bodies("run")[-1]["viewer"] == {"id": "17", "region": "eu", "level": 3}
    assert "region" not in await page.evaluate("JSON.stringify(localStorage)")


async def test_two_groups_stand_beside_each_other(stand_in: StandIn, visit: Visit) -> None:
    """Rows that differ are marked by a sign and a word, and rows of one group alone. Red when rows are compared by
    their place though the first column is a key, or marked by colour alone."""
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    await page.get_by_role("tab", name="Compare").click()
    await page.get_by_role("button", name="Compare with").click()
    await page.get_by_role("option", name="JetBlue").click()
    await expect(page.locator(".side")).to_have_count(2)
    word = "Of 4 rows: 1 differs, 1 only for United Air Lines, 1 only for JetBlue Airways."
    await expect(page.locator(".compare")).to_contain_text(word)
    signs = page.locator(".side").first.locator("tbody .sign")
    words = [text.replace("\n", " ") for text in await signs.all_inner_texts()]
    assert words == ["≠ differs", "", "\N{MINUS SIGN} not here", "+ only here"]
    assert await page.locator(".side td.differs").all_inner_texts() == ["165", "157"]
    assert {body["group"] for body in stand_in.bodies("run")[-2:]} == {"ua", "b6"}


async def test_a_group_that_fails_is_named_in_a_comparison(stand_in: StandIn, visit: Visit) -> None:
    """Beside the rows of the other. Red when an error looks like a result without rows, and when it hides the rows."""
    error = {"code": "missing_variable", "message": "The property carrier is missing."}
    stand_in.answers["run"] = lambda body: [{"error": error}] if body["group"] == "b6" else run_lines([1, 2])
    page = (await visit()).page
    await page.get_by_role("tab", name="Compare").click()
    await page.get_by_role("button", name="Compare with").click()
    await page.get_by_role("option", name="JetBlue").click()
    good, bad = page.locator(".side").first, page.locator(".side").last
    await expect(bad).to_contain_text("JetBlue Airways")
    await expect(bad.get_by_role("alert")).to_have_text("The property carrier is missing.")
    await expect(good.locator("tbody tr")).to_have_count(1)


async def test_a_sample_lists_which_groups_fail(stand_in: StandIn, visit: Visit) -> None:
    """First those that fail, with the reason; a click continues as that group. Red when a failure ends the list."""
    page = (await visit()).page
    await page.get_by_role("tab", name="Sample").click()
    await page.get_by_role("spinbutton", name="Groups").fill("5")
    await page.get_by_role("button", name="Run for a sample").click()
    await expect(page.locator(".sample")).to_contain_text("2 groups: 1 succeeded, 1 failed.")
    (body,) = stand_in.bodies("sample")
    assert body["size"] == 5
    assert body["group"] == "ua"
    first = page.locator(".sample tbody tr").first
    await expect(first).to_contain_text("The property carrier is missing.")
    await first.get_by_role("button", name=GROUPS["ha"]).click()
    await expect(page.get_by_role("button", name=f"As {GROUPS['ha']}")).to_be_visible()


async def test_earlier_runs_come_back_with_text_and_group(stand_in: StandIn, visit: Visit) -> None:
    """They hold no rows. Red when rows are kept, or the text of before is lost: the editor can undo it."""
    page = (await visit()).page
    first = "select day, 1 as first from flights"
    await write(page, first)
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    await write(page, "select 2 as second")
    await reload(page)
    await page.get_by_role("tab", name="History").click()
    row = page.locator(".history tbody tr")
    await expect(row).to_contain_text(first)
    await expect(row).to_contain_text("United Air Lines")
    kept = await page.evaluate("JSON.stringify(localStorage)")
    assert "165" not in kept
    await row.get_by_role("button").click()
    await shows(page, first)


async def test_an_answer_for_an_older_text_is_dropped(stand_in: StandIn, visit: Visit) -> None:
    """One check is under way at a time; findings of an older text are not shown. Red when each pause asks."""
    page = (await visit()).page
    await write(page, "select {{ wrong }} as first")
    await expect(page.get_by_label("Problems")).to_be_visible()
    stand_in.held.add("check")
    await write(page, "select {{ wrong }}")
    await until(lambda: stand_in.last("check").get("text") == "select {{ wrong }}")
    await write(page, "select 1 as newer")
    await until(lambda: stand_in.last("meaning").get("text") == "select 1 as newer")
    assert len([body for body in stand_in.bodies("check") if body["text"] == "select 1 as newer"]) == 0
    stand_in.held.clear()
    await until(lambda: stand_in.last("check").get("text") == "select 1 as newer")
    await expect(page.get_by_label("Problems")).to_be_hidden()
