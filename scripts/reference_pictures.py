"""Makes the pictures of docs/dashboard-panels.md and docs/dashboard-controls.md from their examples.

    python -m scripts.reference_pictures

It serves the examples with ``tenantry dashboards serve`` and opens them in the browser of ``scripts.demo_pictures``.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import Final

from playwright.async_api import FloatRect, Page, async_playwright

from scripts.dashboard_reference import CONTROLS_PAGE, PANELS_PAGE
from scripts.demo_pictures import IMAGES, browser_path

WIDTH: Final = 760
_MARGIN: Final = 8
_SECTION: Final = re.compile(r"^## (\w+)\n.*?^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r'^```sql title="(queries/[\w.]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """The dashboards of the examples, one for each kind, and their queries, by path."""
    panels, controls = PANELS_PAGE.read_text("utf-8"), CONTROLS_PAGE.read_text("utf-8")
    found = dict(_FILE.findall(panels + controls))
    for kind, example in _SECTION.findall(panels):
        found[f"dashboards/panel-{kind}.yaml"] = f"title: Example\nrows:\n{indent(example, '  ')}"
    for kind, example in _SECTION.findall(controls):
        found[f"dashboards/control-{kind}.yaml"] = (
            f"title: Example\ncontrols:\n{indent(example, '  ')}rows: [{{text: Example}}]\n"
        )
    return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the examples and yield the address below which they are."""
    for name, text in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    options = ["--property", "currency=EUR", "--property", "locale=en-GB", "--port", "0"]
    command = [sys.executable, "-m", "tenantry", "dashboards", "serve", str(folder / "dashboards"), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        addresses = (re.search(r"http://[^/]+/dashboards", line) for line in process.stderr or ())
        yield next(found[0] for found in addresses if found is not None)
    finally:
        process.terminate()
        process.wait()


async def take(address: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in sorted(files()):
            if name.startswith("dashboards/"):
                page = await browser.new_page(viewport={"width": WIDTH, "height": 700})
                await _take(page, f"{address}/{Path(name).stem}", IMAGES / f"{Path(name).stem}.png")
                await page.close()
        await browser.close()


async def _take(page: Page, address: str, picture: Path) -> None:
    await page.goto(address)
    await page.locator("main .dashboard").wait_for()
    while await page.locator("[data-state=waiting]").count():  # noqa: ASYNC110  # the page's strict CSP leaves only polling
        await asyncio.sleep(0.2)
    await page.wait_for_timeout(500)
    is_control = picture.stem.startswith("control")
    choice = page.locator(".control .choice")
    if is_control and await choice.count():
        await choice.first.click()
        for option in (await page.locator("[role=dialog]:visible input[type=checkbox]").all())[:2]:
            await option.check()
    shown = await page.locator(".control, [role=dialog]:visible" if is_control else ".rows").all()
    boxes = [box for each in shown if (box := await each.bounding_box()) is not None]
    await page.screenshot(path=picture, clip=_around(boxes))


def _around(boxes: list[FloatRect]) -> FloatRect:
    left, top = (min(box[side] for box in boxes) - _MARGIN for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + _MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + _MARGIN
    return {"x": max(left, 0), "y": max(top, 0), "width": right - left, "height": bottom - top}


def main() -> None:
    """Write a picture for each kind."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        asyncio.run(take(address))


if __name__ == "__main__":
    main()
