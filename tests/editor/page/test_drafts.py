"""Nothing that an author types is lost: reload, crash, a lost session, a full storage, a save of somebody else."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Page, expect

from engines.chromium import Watched
from tests.editor.page.conftest import Visit, opened, reload, shows, until, write
from tests.editor.page.stand_in import QUERY, SECOND, StandIn

TYPED = "select 1 as typed"
KEPT = "(typed) => Object.values(localStorage).some((value) => value.includes(typed))"


async def kept(page: Page, typed: str = TYPED) -> None:
    """Waits until the browser has kept the text."""
    await until(lambda: page.evaluate(KEPT, typed))


async def test_a_draft_survives_a_reload(stand_in: StandIn, visit: Visit) -> None:
    """It is there in its tab, the files say that it is not saved, and a save takes the draft away. Red when the page
    shows the server's text."""
    page = (await visit()).page
    await write(page, TYPED)
    await reload(page)
    await expect(page.locator(".tab[aria-current]")).to_contain_text("by_day.sql")
    await shows(page, TYPED)
    await expect(page.locator(f".file[data-path='{QUERY}']")).to_contain_text("not saved")
    await page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files[QUERY] == TYPED)
    await until(lambda: page.evaluate(f"!({KEPT})({TYPED!r})"))
    await expect(page.locator(f".file[data-path='{QUERY}']")).not_to_contain_text("not saved")


async def test_open_files_survive_two_reloads(stand_in: StandIn, visit: Visit) -> None:
    """Red when a page that is left before it has them all forgets the rest, and when a file stays that was opened on
    the way there."""
    page = (await visit()).page
    await page.locator(f".file[data-path='{SECOND}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("delays.sql")
    await page.locator(f".file[data-path='{QUERY}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("by_day.sql")

    def first_alone(body: dict[str, Any]) -> Any:
        stand_in.held.add("file")
        return {"path": body["path"], "text": stand_in.files[body["path"]], "revision": "r"}

    stand_in.answers["file"] = first_alone
    count = len(stand_in.bodies("file"))
    await page.reload()
    await until(lambda: len(stand_in.bodies("file")) == count + 2)
    del stand_in.answers["file"]
    stand_in.held.clear()
    await reload(page)
    await expect(page.locator(".tab")).to_have_text(["by_day.sql", "delays.sql"])
    await expect(page.locator(".tab[aria-current]")).to_contain_text("by_day.sql")


async def test_a_draft_survives_a_crash(stand_in: StandIn, visit: Visit) -> None:
    """No event tells the page of its end. Red when drafts are kept only as the page is left."""
    seen = await visit()
    await write(seen.page, TYPED)
    await kept(seen.page)
    other = await seen.page.context.new_page()
    await other.goto(stand_in.url)
    await other.locator(".tab[aria-current]").wait_for()
    await shows(other, TYPED)


async def test_a_closed_tab_keeps_its_draft(stand_in: StandIn, visit: Visit) -> None:
    """Red when closing forgets what was typed."""
    page = (await visit()).page
    await write(page, TYPED)
    await page.get_by_role("button", name="Close by_day.sql").click()
    await expect(page.get_by_text("Open a file on the left.")).to_be_visible()
    await page.locator(f".file[data-path='{QUERY}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("by_day.sql")
    await shows(page, TYPED)


async def test_texts_that_are_not_saved_go_with_requests(stand_in: StandIn, visit: Visit) -> None:
    """Of other files: a query may include them. Red when drafts hold the file itself, or none."""
    page = (await visit()).page
    await write(page, TYPED)
    await page.locator(f".file[data-path='{SECOND}']").click()
    await expect(page.locator(".tab[aria-current]")).to_contain_text("delays.sql")
    await page.keyboard.press("ControlOrMeta+Enter")
    await until(lambda: stand_in.bodies("run"))
    body = stand_in.bodies("run")[-1]
    assert (body["path"], body["drafts"]) == (SECOND, {QUERY: TYPED})


async def test_a_lost_session_keeps_the_text(stand_in: StandIn, visit: Visit) -> None:
    """A dialog says how to come back, with the text where it was; a new link opens a session without another page. Red
    when the page is replaced, or loaded again, and when the command gives more rights than the author had."""
    page = (await visit()).page
    await write(page, TYPED)
    stand_in.signed_in = False
    await page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    command = (
        f"tenantry editor link --author ann --url {stand_in.url.rstrip('/')} --right run --right save --right view"
    )
    await expect(dialog.locator("pre")).to_have_text(f"{command} --environment production")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_visible()
    await dialog.get_by_role("button", name="Continue").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("You are not signed in.")
    await dialog.get_by_label("New link").fill(f"{stand_in.url}#code=used")
    await dialog.get_by_role("button", name="Continue").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This link has been used")
    await dialog.get_by_label("New link").fill(f"{stand_in.url}#code=good")
    await dialog.get_by_role("button", name="Continue").click()
    await expect(dialog).to_be_hidden()
    await shows(page, TYPED)
    await page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files[QUERY] == TYPED)


async def test_another_author_does_not_take_over_the_page(stand_in: StandIn, visit: Visit) -> None:
    """Red when the texts of one author go on under the name of another."""
    page = (await visit()).page
    stand_in.signed_in = False
    await write(page, TYPED)
    dialog = page.get_by_role("dialog", name="Your session has ended")
    await dialog.wait_for()
    stand_in.signed_in = True
    stand_in.state["author"] = "bob"
    await dialog.get_by_role("button", name="Continue").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("You are bob now")


async def test_the_link_opens_a_session(stand_in: StandIn, visit: Visit) -> None:
    """Its code leaves the address, and the group that it names is chosen. Red when the code stays in the address."""
    stand_in.signed_in = False
    page = (await visit(fragment="#code=good&environment=production&group=b6")).page
    assert page.url == stand_in.url
    await expect(page.get_by_role("button", name="As JetBlue Airways")).to_be_visible()


async def test_a_link_of_another_author_says_so(stand_in: StandIn, visit: Visit) -> None:
    """Red when an author who follows the link of somebody else goes on as that author without a word."""

    def session(body: dict[str, Any]) -> dict[str, Any]:
        stand_in.state["author"] = "mallory"
        return {}

    stand_in.answers["session"] = session
    page = (await visit()).page
    await page.goto(stand_in.url + "#code=good")
    dialog = page.get_by_role("dialog", name="You are mallory now")
    await expect(dialog).to_contain_text("It has replaced the session of ann in this browser.")
    await dialog.get_by_role("button", name="Continue").click()
    await expect(dialog).to_be_hidden()


async def test_a_used_link_says_how_to_get_another(stand_in: StandIn, visit: Visit) -> None:
    """The new link opens the editor in the same tab. Red when the page stays empty, and when it does not notice that
    only the fragment of its address changes."""
    stand_in.signed_in = False
    seen = await visit(fragment="#code=used", settle=False)
    await expect(seen.page.get_by_role("alert")).to_contain_text("This link has been used")
    await expect(seen.page.get_by_text("tenantry editor link")).to_be_visible()
    await seen.page.goto(stand_in.url + "#code=good")
    await opened(seen.page)
    assert seen.page.url == stand_in.url


async def test_logging_out_leaves_only_drafts(stand_in: StandIn, visit: Visit) -> None:
    """Of another author, whose name begins in the same way, everything stays. Red when Workspace.leave clears nothing,
    or drafts too, when the names of authors are kept as they are, and when the page says that the session was lost."""
    stand_in.state["author"] = "ann smith"
    page = (await visit(fragment="#environment=production&group=b6")).page
    await write(page, TYPED)
    await kept(page)
    stand_in.state["author"] = "ann"
    await reload(page)
    await page.keyboard.press("ControlOrMeta+Enter")
    await until(lambda: page.evaluate("JSON.stringify(localStorage).includes('JetBlue')"))
    await write(page, TYPED)
    await kept(page)
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("alert")).to_have_text(
        re.compile("^You have logged out. This browser keeps the texts")
    )
    await expect(page.get_by_text("tenantry editor link")).to_be_visible()
    names = await page.evaluate("Object.keys(localStorage).sort()")
    own, *others = [name.partition(" ")[2].split(" ", 1)[1] for name in names]
    assert own == f"ann draft {QUERY}"
    assert f"ann%20smith draft {QUERY}" in others
    assert all(name.startswith("ann%20smith ") for name in others)


async def test_a_full_storage_says_so(stand_in: StandIn, visit: Visit) -> None:
    """The history of runs makes room first. Red when an error of the storage is swallowed."""
    page = (await visit()).page
    await page.evaluate("""() => {
        Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
    }""")
    await write(page, TYPED)
    await expect(page.get_by_role("alert").filter(has_text="storage is full")).to_be_visible()
    await page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files[QUERY] == TYPED)


async def test_two_tabs_with_one_file_are_told(stand_in: StandIn, visit: Visit) -> None:
    """Red when the draft of one tab replaces that of another without a word."""
    seen = await visit()
    await write(seen.page, TYPED)
    other = await seen.page.context.new_page()
    await other.goto(stand_in.url)
    await other.locator(".tab[aria-current]").wait_for()
    await write(other, "select 2 as other")
    await expect(seen.page.get_by_role("alert")).to_contain_text("You are writing by_day.sql in another tab")


THEIRS = "select 2 as theirs"


async def conflicting(stand_in: StandIn, visit: Visit) -> tuple[Watched, Any]:
    """A page whose save is a conflict, and the dialog."""
    seen = await visit()
    await write(seen.page, TYPED)
    stand_in.files[QUERY] = THEIRS
    await seen.page.keyboard.press("ControlOrMeta+s")
    dialog = seen.page.get_by_role("dialog", name=f"Somebody else has saved {QUERY}")
    await expect(dialog.get_by_label("Theirs", exact=True)).to_contain_text(THEIRS)
    await expect(dialog.get_by_label("Mine", exact=True)).to_contain_text(TYPED)
    assert stand_in.files[QUERY] == THEIRS
    return seen, dialog


async def test_in_a_conflict_mine_can_be_kept(stand_in: StandIn, visit: Visit) -> None:
    """Red when the second save has the first revision."""
    _, dialog = await conflicting(stand_in, visit)
    await dialog.get_by_role("button", name="Keep mine").click()
    await until(lambda: stand_in.files[QUERY] == TYPED)
    await expect(dialog).to_be_hidden()


async def test_in_a_conflict_mine_can_be_edited(stand_in: StandIn, visit: Visit) -> None:
    """Red when the text of before the dialog is saved."""
    seen, dialog = await conflicting(stand_in, visit)
    mine = dialog.get_by_label("Mine", exact=True)
    await mine.click()
    await seen.page.keyboard.press("ControlOrMeta+a")
    await seen.page.keyboard.insert_text("select 3 as both")
    await dialog.get_by_role("button", name="Keep mine").click()
    await until(lambda: stand_in.files[QUERY] == "select 3 as both")
    await expect(dialog).to_be_hidden()
    await shows(seen.page, "select 3 as both")


async def test_in_a_conflict_theirs_can_be_taken(stand_in: StandIn, visit: Visit) -> None:
    """The text is theirs then, nothing is unsaved, and the next save is none of a conflict. Red when the revision stays
    the old one."""
    seen, dialog = await conflicting(stand_in, visit)
    await dialog.get_by_role("button", name="Take theirs").click()
    await expect(dialog).to_be_hidden()
    await shows(seen.page, THEIRS)
    await expect(seen.page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    await write(seen.page, TYPED)
    await seen.page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files[QUERY] == TYPED)


async def test_a_file_that_somebody_deleted_can_be_saved_again(stand_in: StandIn, visit: Visit) -> None:
    """Red when a conflict without their text shows no way out."""
    page = (await visit()).page
    await write(page, TYPED)
    del stand_in.files[QUERY]
    await page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name=f"Somebody has deleted {QUERY}")
    await dialog.get_by_role("button", name="Save mine as a new file").click()
    await until(lambda: stand_in.files.get(QUERY) == TYPED)
