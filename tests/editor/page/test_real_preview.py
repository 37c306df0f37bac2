"""The preview of a dashboard with the real server: the frame follows what is typed."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.async_api import Browser, expect

from engines.chromium import NOTE_VIOLATIONS, watch
from tenantry.editor import EditorAuthor, EditorSessions
from tenantry.groups import Author
from tests.editor.page.conftest import PATIENCE, write
from tests.editor.served import FILES, reachable, served_editor

DASHBOARD = "dashboards/flights.yaml"
BROKEN = "title: Flights\nrows:\n  - {lien: flights, by: day, query: by_day}\n"


async def test_the_frame_follows_what_is_typed(browser: Browser, tmp_path: Path) -> None:
    """It is opened while the file is broken, then fixed, then changed, and stays the same document. Red when the frame
    of a broken draft is an error page, when each change loads the frame anew, when the frame has the watermark of
    other previews, and when its requests have no cookie. It ends with the author's session."""
    files = FILES | {DASHBOARD: BROKEN}
    async with served_editor(tmp_path, files, authors=None) as site, reachable(site) as url:
        code = await EditorSessions(site.store).issue(EditorAuthor("ann"), Author("operator"))
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        await context.add_init_script(NOTE_VIOLATIONS)
        seen = await watch(await context.new_page())
        page = seen.page
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(f"{url}/#code={code}&environment=production&group=ua")
        await page.locator(f".file[data-path='{DASHBOARD}']").click()
        inside = page.frame_locator(".preview iframe")
        heading, root = inside.get_by_role("heading", level=1), inside.locator("html")
        await expect(heading).to_have_text("This dashboard has a mistake")
        await expect(inside.locator("body")).to_contain_text(f"{DASHBOARD}:3:5")
        await root.evaluate("element => { element.ownerDocument.defaultView.same = true; }")
        for title in ("Typed", "Typed again"):
            await write(page, BROKEN.replace("Flights", title, 1).replace("lien", "line"))
            await expect(heading).to_have_text(title)
            await expect(inside.locator(".panel[data-state=ready]")).to_have_count(1)
        assert await root.evaluate("element => element.ownerDocument.defaultView.same")
        assert await inside.locator(".watermark, .preview-note").count() == 0
        if folder := os.environ.get("PICTURES"):
            await page.screenshot(path=f"{folder}/fixed.png")
        assert await seen.violations() == []
        assert seen.console == []
        await EditorSessions(site.store).end_all("ann", Author("operator"))
        await expect(inside.locator("body")).to_contain_text("This access has ended")
        await context.close()
