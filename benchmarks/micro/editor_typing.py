"""What a keystroke costs on the page of the SQL editor, compared with CodeMirror and its own SQL mode in the same run;
both know 10,000 columns.

``make bench TABLES=editor_typing``. It installs the packages of ``frontend`` in a temporary folder. The keys go to the
two pages in turn, so that both meet the same load of the machine, to which the editor's own server belongs.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.harness import engines
from benchmarks.harness.table import Aim, Table

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

FRONTEND: Final = Path(__file__).parents[2] / "frontend"
TYPED: Final = "select f.column_12, t.column_3 from table_12 f join table_17 t on t.column_1 = f.column_1 where f.col "
HERE: Final = "/* here */"
LINE: Final = "  and f.carrier = {{ user_group.properties.carrier }} and f.day >= '2026-01-01' -- a condition\n"
SIZES: Final = {"4 KiB, processor slowed fourfold": (4 * 1024, 4), "1 MiB": (1024 * 1024, 1)}
"""Name of a row -> characters of the text, and how much slower the processor is."""
PAUSE: Final = 0.12
"""Seconds between keystrokes: lists open in between."""
ROUNDS: Final = 3
MOST: Final = 1.3
"""A keystroke's time, as a multiple of CodeMirror's."""
FIRST_COMPLETION: Final = 100.0
OPENS: Final = 1_000.0
RUNS: Final = 7
SCHEMA: Final[dict[str, list[str]]] = {
    f"table_{table}": [f"column_{column}" for column in range(20)] for table in range(500)
}
CATALOGUE: Final = {
    "dialect": "sqlite",
    "tables": [{"name": name, "kind": "guarded", "columns": columns} for name, columns in SCHEMA.items()],
    "functions": ["count", "sum"],
    "age": 0,
}
"""The answer about the data source."""
FILE: Final = "queries/typing.sql"

TIMES: Final = """
window.times = [];
window.shown = (then) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = then;
  port2.postMessage(null);
});
window.addEventListener("keydown", () => {
  const start = performance.now();
  shown(() => times.push(performance.now() - start));
}, true);
"""
"""Notes the milliseconds from each key to the frame of the screen after it."""

FIRST: Final = """(catalogue) => new Promise((resolve) => {
  const code = document.querySelector("tenantry-code");
  const start = performance.now();
  code.setKnowledge({ catalogue });
  new MutationObserver((_, observer) => {
    if (!code.shadowRoot.querySelector(".cm-tooltip-autocomplete li")) return;
    observer.disconnect();
    shown(() => resolve(performance.now() - start));
  }).observe(code.shadowRoot, { subtree: true, childList: true });
  const key = { key: " ", code: "Space", keyCode: 32, ctrlKey: true, bubbles: true, cancelable: true };
  code.shadowRoot.querySelector(".cm-content").dispatchEvent(new KeyboardEvent("keydown", key));
})"""
"""Milliseconds from the catalogue to the list of columns on the screen."""

OPENED: Final = """() => new Promise((resolve) => {
  const done = () => resolve(performance.now());
  const look = () => document.querySelector("tenantry-code")?.text ? shown(done) : setTimeout(look, 5);
  look();
})"""
"""Milliseconds from the request for the page to the text on the screen."""


def table() -> Table:
    """Runs it. Raises EngineMissing."""
    result = Table(
        "A keystroke on the page of the SQL editor until the screen shows it, 10,000 columns known",
        ["text", "CodeMirror ms, p50", "p95", "editor ms, p50", "p95", "keys"],
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        executable = engines.chromium(folder)
        asyncio.run(_measure(result, executable, folder, built(folder)))
    return result


def built(folder: Path) -> str:
    """Return the address of a page with CodeMirror, in ``folder``."""
    sys.path.insert(0, str(FRONTEND))
    from bundling import Node  # type: ignore[import-not-found]  # found only on the path above

    sources = folder / "frontend"
    shutil.copytree(FRONTEND, sources, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    shutil.copyfile(Path(__file__).with_suffix(".js"), sources / "bare.js")
    node = Node(sources)
    node.install()
    options = ("--bundle", "--minify", "--format=iife", "--target=es2022", "--log-level=warning")
    node.run("node_modules/esbuild/bin/esbuild", "bare.js", *options, f"--outfile={folder / 'bare.js'}")
    page = folder / "bare.html"
    page.write_text('<!doctype html><meta charset="utf-8"><title>Bare</title><body><script src="bare.js"></script>')
    return page.as_uri()


async def _measure(result: Table, executable: str, folder: Path, bare: str) -> None:
    from engines.chromium import chromium
    from tests.editor.served import reachable, served_editor

    async with chromium(executable, folder) as browser:
        for number, (name, (size, slowed)) in enumerate(SIZES.items()):
            files = {FILE: _text(size), "dashboards/flights.yaml": "title: Flights\nrows: []\n"}
            async with served_editor(folder / f"site-{number}", files) as site, reachable(site) as url:
                times = await _keystrokes(browser, bare, url, size, slowed)
                if slowed > 1:
                    first, opens = await _first_completions(browser, url)
            figures = [_percentile(each, share) for each in times for share in (50, 95)]
            result.add(name, *(f"{figure:.1f}" for figure in figures), str(len(times[1])))
            for share, its, other in ((50, figures[2], figures[0]), (95, figures[3], figures[1])):
                result.aims.append(Aim(f"{name}: p{share} of a keystroke, multiple of CodeMirror's", its / other, MOST))
        result.aims.append(Aim("first completion after the catalogue is known, ms", first, FIRST_COMPLETION))
        result.aims.append(Aim("from the request for the page to the text on the screen, ms", opens, OPENS))


async def _keystrokes(browser: Browser, bare: str, url: str, size: int, slowed: int) -> list[list[float]]:
    """Milliseconds of each keystroke in CodeMirror and in the editor."""
    text = _text(size)
    at = text.index(HERE)
    async with _page(browser) as one, _editor(browser, url) as other:
        await one.goto(bare)
        await one.evaluate("([text, at, schema]) => bare(text, at, schema)", [text, at, SCHEMA])
        await other.evaluate("(at) => document.querySelector('tenantry-code').focusAt(at)", at)
        await asyncio.sleep(3)  # the rest of the text is read while nobody types
        pages = (one, other)
        for page in pages:
            await page.evaluate("times.length = 0")
            session = await page.context.new_cdp_session(page)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        for _ in range(ROUNDS):
            for character in TYPED:
                for page in pages:
                    await page.bring_to_front()
                    await page.keyboard.press("Space" if character == " " else character)
                    await asyncio.sleep(PAUSE)
            for page in pages:
                await page.keyboard.press("Escape")
                await page.keyboard.press("Enter")
        return [await page.evaluate("times") for page in pages]


async def _first_completions(browser: Browser, url: str) -> tuple[float, float]:
    """Median milliseconds of the first completion, and of opening the page."""
    firsts, opens = list[float](), list[float]()
    for _ in range(RUNS):
        async with _editor(browser, url) as page:
            opens.append(await page.evaluate("opened"))
            await page.evaluate("document.querySelector('tenantry-code').focusAt(0)")
            await page.keyboard.insert_text("select f. from table_3 f;\n")
            await page.evaluate("document.querySelector('tenantry-code').focusAt('select f.'.length)")
            firsts.append(await page.evaluate(FIRST, CATALOGUE))
    return statistics.median(firsts), statistics.median(opens)


@asynccontextmanager
async def _editor(browser: Browser, url: str) -> AsyncIterator[Page]:
    """The editor with its first query, as a group. The catalogue is known."""
    async with _page(browser) as page:
        await page.route("**/-/catalogue", lambda route: route.fulfill(json=CATALOGUE))
        async with page.expect_response("**/-/catalogue"):
            await page.goto(f"{url}/#environment=production&group=ua")
            await page.evaluate(f"({OPENED})().then((time) => (window.opened = time))")
        yield page


@asynccontextmanager
async def _page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(120_000)
    await context.add_init_script(TIMES)
    try:
        yield await context.new_page()
    finally:
        await context.close()


def _text(size: int) -> str:
    half = LINE * (size // len(LINE) // 2)
    head = "select f.carrier, count(*) from flights f where true\n"
    return f"{head}{half};\n{HERE}\n;\n{head}{half}"


def _percentile(values: Sequence[Any], share: int) -> float:
    return float(statistics.quantiles(values, n=100)[share - 1])
