"""What a viewer waits for in the browser: charts that are painted, the first panel of an embedded dashboard, the
question for a new token after a rotation, a large download.

``make bench TABLES=page_times``. Chromium and the server share this machine: each figure holds the work of both.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

from benchmarks.harness import engines
from benchmarks.harness.product_app import SIZES, Sites, group_name, serving
from benchmarks.harness.table import Aim, Table

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Route

ROUNDS: Final = 9
DOWNLOADS: Final = 3
PATIENCE: Final = 120.0
PAINTED: Final = dict(zip(SIZES, (150.0, 250.0), strict=True))
"""Milliseconds from the data of twelve charts to their paint, by the points of a chart."""
FIRST_PANEL: Final = {1: 200.0, 3: 400.0}
"""Milliseconds from the element in the document to the first panel, by how many elements there are."""
ASKED: Final = 1_000.0
"""Milliseconds from a rotation to the question to the host, where the page's answer stays open."""
DOWNLOAD_BEGINS: Final = 1_000.0
DOWNLOAD_MEMORY: Final = 30.0
"""MB more than before, of all processes of the browser."""

NOTE: Final = """(() => {
  if (window.times) return;
  const now = () => performance.timeOrigin + performance.now();
  const times = (window.times = {});
  const parse = JSON.parse;
  JSON.parse = (...given) => {
    const value = parse(...given);
    if (value?.panel !== undefined) times.data ??= now();
    return value;
  };
  const painted = (name) => {
    if (name in times) return;
    times[name] = 0;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (times[name] = now());
      port2.postMessage(null);
    });
  };
  new MutationObserver(() => {
    const panels = [...document.querySelectorAll("[data-panel]")];
    const ready = panels.filter((panel) => panel.dataset.state === "ready").length;
    if (ready) painted("first");
    if (ready && ready === panels.length) painted("all");
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] });
})()"""
"""Notes moments, in milliseconds since 1970, on the clock that all documents share: the first line of data that the
page reads, and the frames of the screen after the first and after the last panel is drawn."""

EMBED: Final = """async (groups) => {
  await customElements.whenDefined("tenantry-dashboard");
  const now = () => performance.timeOrigin + performance.now();
  window.asked = [];
  const src = document.querySelector("script[type=module]").src.replace("/-/embed.js", "");
  for (const group of groups) {
    const element = document.createElement("tenantry-dashboard");
    element.getToken = async () => (asked.push(now()), (await fetch(`/token/${group}`)).text());
    element.setAttribute("src", src);
    element.setAttribute("name", "charts-100");
    element.setAttribute("height", "700"); // all in view: frames out of it are not painted
    document.body.append(element);
  }
  return now();
}"""

ROTATE: Final = """async (group) => {
  await fetch(`/rotate/${group}`, { method: "POST" });
  return performance.timeOrigin + performance.now();
}"""


def table() -> Table:
    """Runs it. Raises EngineMissing."""
    heads = ["what", "ms, median", "ms, longest", "runs"]
    result = Table("What a viewer waits for in the browser", heads)
    with tempfile.TemporaryDirectory() as name, serving(Path(name)) as sites:
        executable = engines.chromium(Path(name))
        asyncio.run(_measure(result, executable, Path(name), sites))
    with tempfile.TemporaryDirectory() as name, serving(Path(name), "--may-open") as sites:
        asyncio.run(_measure_unknown(result, executable, Path(name), sites))
    return result


async def _measure_unknown(result: Table, executable: str, folder: Path, sites: Sites) -> None:
    """The frame holds no places of panels: with ``may_open`` it may not know the dashboard."""
    from engines.chromium import chromium

    async with chromium(executable, folder) as browser:
        found = [await _first_panel(browser, sites, 1) for _ in range(ROUNDS)]
        _add(result, "from the element to the first panel, one frame, with may_open", found, FIRST_PANEL[1])


async def _measure(result: Table, executable: str, folder: Path, sites: Sites) -> None:
    from engines.chromium import chromium

    async with chromium(executable, folder) as browser:
        for size, aim in PAINTED.items():
            found = [await _painted(browser, sites, size) for _ in range(ROUNDS)]
            _add(result, f"twelve charts of {size:,} points, from the data to the paint", found, aim)
        for count, aim in FIRST_PANEL.items():
            found = [await _first_panel(browser, sites, count) for _ in range(ROUNDS)]
            frames = "one frame" if count == 1 else f"each of {count} frames"
            _add(result, f"from the element to the first panel, {frames}", found, aim)
        _add(result, "from a rotation to the request for a new token", await _asked(browser, sites), ASKED)
        begun, grown = await _download(browser, sites)
        _add(result, "a download of 200 MB, from the click to the first byte", begun, DOWNLOAD_BEGINS)
        result.add("a download of 200 MB, growth of the browser's memory, MB", *_cells(grown))
        result.aims.append(
            Aim("a download of 200 MB, growth of the browser's memory, MB", statistics.median(grown), DOWNLOAD_MEMORY)
        )


def _add(result: Table, what: str, found: list[float], aim: float) -> None:
    result.add(what, *_cells(found))
    result.aims.append(Aim(f"{what}, ms", statistics.median(found), aim))


def _cells(found: list[float]) -> tuple[str, str, str]:
    return f"{statistics.median(found):,.0f}", f"{max(found):,.0f}", str(len(found))


@asynccontextmanager
async def _page(browser: Browser) -> AsyncIterator[Page]:
    """In a context of its own: nothing is in a cache. High enough for twelve charts."""
    context = await browser.new_context(viewport={"width": 1440, "height": 2400}, accept_downloads=True)
    context.set_default_timeout(PATIENCE * 1000)
    await context.add_init_script(NOTE)
    try:
        yield await context.new_page()
    finally:
        await context.close()


async def _token(page: Page, sites: Sites, group: str) -> str:
    return await (await page.request.get(f"{sites.host}/token/{group}")).text()


async def _until(found: Callable[[], Any]) -> Any:
    """The first true value."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if value := await found():
            return value
        await asyncio.sleep(0.02)
    raise RuntimeError("the page did not do what is measured")


async def _painted(browser: Browser, sites: Sites, size: int) -> float:
    """The whole answer is at hand when the page reads its first line: it is asked beforehand, and given at once."""
    async with _page(browser) as page:
        token = await _token(page, sites, group_name(0))

        async def give_whole(route: Route) -> None:
            asked = {**json.loads(route.request.post_data or ""), "live": False}
            answer = await route.fetch(post_data=json.dumps(asked))
            await route.fulfill(status=answer.status, headers=answer.headers, body=await answer.body())

        await page.route("**/-/panels", give_whole)
        await page.goto(f"{sites.dashboards}/dashboards/charts-{size}?USER_GROUP_TOKEN={token}")
        times = await _until(lambda: page.evaluate("times.all ? times : null"))
        return float(times["all"] - times["data"])


async def _first_panel(browser: Browser, sites: Sites, count: int) -> float:
    """The last of the frames to show its first panel counts."""
    async with _page(browser) as page:
        connected = await _embed(page, sites, count)
        firsts = await _until(lambda: _firsts(page, count))
        return float(max(firsts) - connected)


async def _embed(page: Page, sites: Sites, count: int) -> float:
    await page.goto(sites.host)
    return float(await page.evaluate(EMBED, [group_name(number) for number in range(count)]))


async def _firsts(page: Page, count: int) -> list[float] | None:
    frames = page.frames[1:]
    firsts = [await frame.evaluate("window.times?.first ?? 0") for frame in frames]
    return firsts if len(firsts) == count and all(firsts) else None


async def _asked(browser: Browser, sites: Sites) -> list[float]:
    found = []
    async with _page(browser) as page:
        await _embed(page, sites, 1)
        await _until(lambda: page.frames[1].evaluate("window.times?.all"))
        for round_ in range(ROUNDS):
            rotated = await page.evaluate(ROTATE, group_name(0))
            asked = await _until(partial(page.evaluate, f"asked[{round_ + 1}]"))
            found.append(max(0.0, asked - rotated))
            await asyncio.sleep(2)  # the page opens its answer again
    return found


async def _download(browser: Browser, sites: Sites) -> tuple[list[float], list[float]]:
    """Milliseconds until it begins, MB of memory while it runs."""
    begun, grown = [], []
    for _ in range(DOWNLOADS):
        async with _page(browser) as page:
            token = await _token(page, sites, group_name(0))
            await page.goto(f"{sites.dashboards}/dashboards/download?USER_GROUP_TOKEN={token}")
            await _until(lambda: page.evaluate("times.all"))
            await page.get_by_role("button", name="Menu of Rows").click()
            before = _memory()
            start = time.perf_counter()
            async with page.expect_download() as coming:
                await page.get_by_role("menuitem", name="Download CSV").click()
            download = await coming.value
            begun.append((time.perf_counter() - start) * 1e3)
            ended = asyncio.create_task(download.path())
            most = before
            while not ended.done():
                most = max(most, _memory())
                await asyncio.sleep(0.1)
            _check_size(await ended)
            await download.delete()
            grown.append((most - before) / 1e6)
    return begun, grown


def _check_size(file: Path) -> None:
    size = file.stat().st_size
    if size < 200_000_000:
        raise RuntimeError(f"the file has {size:,} bytes")


def _memory() -> float:
    """Bytes of all processes of the browser, each page of memory once."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name():
                total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total
