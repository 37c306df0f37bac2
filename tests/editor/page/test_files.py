"""Files: made, renamed, deleted, formatted, compared with the last commit; what an author without a right sees."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.editor.page.conftest import Visit, reload, shows, text_of, until, write
from tests.editor.page.stand_in import DASHBOARD, QUERY, SECOND, Message, StandIn, refusal, revision_of


async def test_a_file_is_made_and_saved(stand_in: StandIn, visit: Visit) -> None:
    """Typing goes into the new file at once. Red when a new file is saved with a revision, when a path that exists is
    taken, when the server is not asked about the path, when a name alone is no path, and when the focus stays outside
    the text."""
    page = (await visit()).page
    await page.get_by_role("button", name="New file in Queries").click()
    dialog = page.get_by_role("dialog", name="New file")
    await dialog.get_by_label("Path").fill(SECOND)
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("There is a file")
    stand_in.answers["file/new"] = refusal(422, "invalid_body", "the editor opens only .sql files in queries/")
    await dialog.get_by_label("Path").fill("../new.sql")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("the editor opens only .sql files")
    await expect(page.locator(".tab")).to_have_count(1)
    del stand_in.answers["file/new"]
    await dialog.get_by_label("Path").fill("new")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("new.sql")
    await expect(page.locator("tenantry-code :focus")).to_be_attached()
    await page.keyboard.insert_text("select 1 as one")
    await page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files.get("queries/new.sql") == "select 1 as one")
    assert stand_in.bodies("file/save")[-1]["revision"] is None
    await expect(page.locator(".file[data-path='queries/new.sql']")).to_contain_text("not in the last commit")


async def test_a_file_that_is_made_at_once_stays_open(stand_in: StandIn, visit: Visit) -> None:
    """While the page reads the one that it opens first. Red when that one takes its place."""
    stand_in.held.add("file")
    page = (await visit(settle=False)).page
    await until(lambda: stand_in.bodies("file"))
    await page.get_by_role("button", name="New file in Queries").click()
    await page.get_by_label("Path").fill("new")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("new.sql")
    stand_in.held.clear()
    await expect(page.locator(".tab")).to_have_text(["by_day.sql", re.compile("^new.sql")])
    await expect(page.locator(".tab[aria-current]")).to_contain_text("new.sql")


async def test_a_draft_that_cannot_be_saved_can_be_deleted(stand_in: StandIn, visit: Visit) -> None:
    """Its text goes with no request about other files. Red when a path that the server refuses cannot be opened, and
    when its text is a draft beside other files."""
    page = (await visit()).page
    await page.get_by_role("button", name="New file in Queries").click()
    await page.get_by_label("Path").fill("../bad.sql")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("bad.sql")
    await write(page, "select 1 as bad")
    await page.get_by_role("button", name="Close bad.sql").click()

    def file(body: Message) -> Message | tuple[int, Message]:
        if body["path"] == "../bad.sql":
            return refusal(422, "invalid_body", "'../bad.sql' is not one of them")
        text = stand_in.files[body["path"]]
        return {"path": body["path"], "text": text, "revision": revision_of(text)}

    stand_in.answers["file"] = file
    await reload(page)
    bad = page.locator(".file[data-path='../bad.sql']")
    await bad.click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("bad.sql")
    await shows(page, "select 1 as bad")
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await until(lambda: stand_in.bodies("preview"))
    assert stand_in.bodies("preview")[-1]["drafts"] == {}
    await bad.click()
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Delete…").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(bad).to_have_count(0)
    await reload(page)
    await expect(bad).to_have_count(0)


async def test_a_file_is_renamed_with_its_draft(stand_in: StandIn, visit: Visit) -> None:
    """Red when the text that is not saved stays with the old name."""
    page = (await visit()).page
    before = stand_in.files[QUERY]
    await write(page, "select 1 as typed")
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Rename…").click()
    await page.get_by_label("Path").fill("queries/renamed.sql")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("renamed.sql")
    assert stand_in.files["queries/renamed.sql"] == before
    await shows(page, "select 1 as typed")
    await reload(page)
    await expect(page.locator(".tab[aria-current]")).to_contain_text("renamed.sql")
    await shows(page, "select 1 as typed")


async def test_a_file_is_deleted_after_a_question(stand_in: StandIn, visit: Visit) -> None:
    """Which names the dashboards that lose the query. Red when Enter deletes: the focus is on the way back; and when
    nobody is warned."""
    used = {"params": [{"name": "since", "type": "date"}], "dashboards": [{"name": "flights", "schema": "main"}]}
    stand_in.answers["variables"] = {"variables": [], "fragments": []} | used
    page = (await visit()).page
    await page.get_by_text("As in flights").wait_for()
    for press in ("Enter", None):
        await page.get_by_role("button", name="Menu of the file").click()
        await page.get_by_role("menuitem", name="Delete…").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Dashboards that use it: flights.")
        if press:
            await page.keyboard.press(press)
            await expect(page.get_by_role("dialog")).to_be_hidden()
            assert QUERY in stand_in.files
    await page.get_by_role("button", name="Delete", exact=True).click()
    await until(lambda: QUERY not in stand_in.files)
    await expect(page.locator(f".file[data-path='{QUERY}']")).to_have_count(0)


async def test_formatting_can_be_undone(stand_in: StandIn, visit: Visit) -> None:
    """It changes the text and saves nothing. Red when Format saves."""
    page = (await visit()).page
    before = stand_in.files[QUERY]
    await page.get_by_role("button", name="Format").click()
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    assert (await text_of(page)).startswith("SELECT day")
    assert stand_in.files[QUERY] == before


async def test_a_commit_message_can_be_copied(stand_in: StandIn, visit: Visit) -> None:
    """Red when the menu lacks the entry, or shows it without git."""
    page = (await visit()).page
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem", name="Commit message…").click()
    await expect(page.get_by_role("dialog", name="Commit message")).to_contain_text("Change queries/by_day.sql")
    await page.keyboard.press("Escape")
    stand_in.answers["files"] = {"files": [{"path": QUERY, "kind": "query", "status": None}], "git": False}
    await reload(page)
    await page.get_by_role("button", name="Menu of the file").click()
    await expect(page.get_by_role("menuitem", name="Rename…")).to_be_visible()
    await expect(page.get_by_role("menuitem", name="Commit message…")).to_have_count(0)
    await expect(page.get_by_role("button", name="Changes")).to_be_hidden()


async def test_the_text_is_compared_with_the_last_commit(stand_in: StandIn, visit: Visit) -> None:
    """Red when the saved file is shown for the commit, and when the text does not come back."""
    page = (await visit()).page
    stand_in.head[QUERY] = "select 0 as committed\n"
    await write(page, "select 1 as typed")
    button = page.get_by_role("button", name="Changes")
    await button.click()
    await expect(page.get_by_label("Last commit")).to_contain_text("select 0 as committed")
    await expect(page.get_by_label("Now")).to_contain_text("select 1 as typed")
    await button.click()
    await expect(page.get_by_label("Last commit")).to_have_count(0)
    await expect(page.locator("tenantry-code")).to_be_visible()


@pytest.mark.parametrize("read_only", [True, False])
async def test_an_author_who_may_not_save_can_still_try(stand_in: StandIn, visit: Visit, read_only: bool) -> None:
    """Writing and running stay; nothing that writes files is offered, Ctrl+S asks for nothing, and the place of the
    button says why. Red when the rights are not looked at, and when Save is missing without a word."""
    stand_in.state |= {"read_only": read_only, "rights": ["run", "view", *(["save"] if read_only else [])]}
    page = (await visit()).page
    why = "Read-only: nobody saves files in this editor" if read_only else "You have no right to save"
    await expect(page.get_by_role("group", name="Commands").get_by_text(why, exact=True)).to_be_visible()
    await write(page, "select 1 as one")
    await page.keyboard.press("ControlOrMeta+s")
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    assert stand_in.bodies("file/save") == []
    for name in ("Save", "Format", "New file in Queries"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem").first.wait_for()
    texts = await page.get_by_role("menuitem").all_inner_texts()
    assert {"Rename…", "Delete…", "Add a panel of this query…"} & set(texts) == set()


async def test_an_author_who_may_not_run_sees_no_run(stand_in: StandIn, visit: Visit) -> None:
    """Red when the rights are not looked at, when the page advises to run the query all the same, and when a dashboard
    asks for a preview that is refused."""
    stand_in.state["rights"] = ["view"]
    page = (await visit()).page
    await expect(page.get_by_text("You have no right to run or save", exact=True)).to_be_visible()
    await expect(page.locator(".rows")).to_contain_text("You have no right to run queries")
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".command-word")).to_have_text("You have no right to run or save")
    await expect(page.get_by_role("button", name="Run", exact=True)).to_be_hidden()
    assert await page.get_by_role("tab").all_inner_texts() == ["Table", "Chart", "Bound SQL"]
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await expect(page.locator(".preview")).to_contain_text("so there is no preview")
    await until(lambda: stand_in.last("check").get("path") == DASHBOARD)  # asked at the same time as a preview
    assert stand_in.bodies("run") == stand_in.bodies("preview") == []


async def test_an_unguarded_run_is_marked(stand_in: StandIn, visit: Visit) -> None:
    """Only who has the right can choose it, and the screen says so. Red when the mark is missing."""
    page = (await visit()).page
    await expect(page.get_by_label("Without guards")).to_have_count(0)
    stand_in.state["rights"].append("unguarded")
    await reload(page)
    await page.get_by_label("Without guards").check()
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".facts")).to_contain_text("Without guards")
    await until(lambda: stand_in.bodies("run"))
    assert stand_in.bodies("run")[-1]["unguarded"] is True


async def test_arrow_keys_go_through_the_files(stand_in: StandIn, visit: Visit) -> None:
    """One stop of the Tab key for all files. Red when each file is a stop."""
    page = (await visit()).page
    await page.locator(".file[tabindex='0']").focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab[aria-current]")).to_contain_text("flights.yaml")
    await expect(page.locator(".file:focus")).to_have_attribute("data-path", DASHBOARD)
    assert await page.locator(".file[tabindex='0']").count() == 1
