"""What a keystroke costs in the SQL editor, compared with CodeMirror and its own SQL mode in the same run; both know
10,000 columns.

``make bench TABLES=editor_typing``. It installs the packages of ``frontend`` in a temporary folder. The keys go to the
two editors in turn, so that both meet the same load of the machine.
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

ROOT: Final = Path(__file__).parents[2]
FRONTEND: Final = ROOT / "frontend"
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
COMPLETIONS: Final = 9
TABLES: Final = [
    {"name": f"table_{table}", "kind": "guarded", "columns": [f"column_{column}" for column in range(20)]}
    for table in range(500)
]


def table() -> Table:
    """Runs it. Raises EngineMissing."""
    result = Table(
        "A keystroke in the SQL editor until the screen shows it, 10,000 columns known",
        ["text", "CodeMirror ms, p50", "p95", "editor ms, p50", "p95", "keys"],
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        executable = engines.chromium(folder)
        asyncio.run(_measure(result, executable, folder, built(folder)))
    return result


def built(folder: Path) -> Path:
    """Return the page of both editors, in ``folder``."""
    sys.path.insert(0, str(FRONTEND))
    from bundling import Node  # type: ignore[import-not-found]  # found only on the path above

    sources = folder / "frontend"
    shutil.copytree(FRONTEND, sources, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    shutil.copyfile(Path(__file__).with_suffix(".js"), sources / "editor_typing.js")
    node = Node(sources)
    node.install()
    options = ("--bundle", "--minify", "--format=iife", "--target=es2022", "--log-level=warning")
    node.run("node_modules/esbuild/bin/esbuild", "editor_typing.js", *options, f"--outfile={folder / 'editors.js'}")
    shutil.copyfile(FRONTEND / "src" / "tokens.css", folder / "tokens.css")
    page = folder / "editors.html"
    page.write_text(
        '<!doctype html><meta charset="utf-8"><title>Editors</title><link rel="stylesheet" href="tokens.css">'
        '<style>tenantry-code { height: 90vh; }</style><body><script src="editors.js"></script>',
        encoding="utf-8",
    )
    return page


async def _measure(result: Table, executable: str, folder: Path, page: Path) -> None:
    from engines.chromium import chromium

    async with chromium(executable, folder) as browser:
        for name, (size, slowed) in SIZES.items():
            bare, ours = await _keystrokes(browser, page, size, slowed)
            figures = [_percentile(each, share) for each in (bare, ours) for share in (50, 95)]
            result.add(name, *(f"{figure:.1f}" for figure in figures), str(len(ours)))
            for share, one, other in ((50, figures[2], figures[0]), (95, figures[3], figures[1])):
                result.aims.append(Aim(f"{name}: p{share} of a keystroke, multiple of CodeMirror's", one / other, MOST))
        first = statistics.median(await _first_completions(browser, page))
        result.aims.append(Aim("first completion after the catalogue is known, ms", first, FIRST_COMPLETION))


async def _keystrokes(browser: Browser, page: Path, size: int, slowed: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each keystroke in CodeMirror and in the editor."""
    async with _opened(browser, page, "bare", size) as bare, _opened(browser, page, "ours", size) as ours:
        for each in (bare, ours):
            session = await each.context.new_cdp_session(each)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        for _ in range(ROUNDS):
            for character in TYPED:
                for each in (bare, ours):
                    await each.bring_to_front()
                    await each.keyboard.press("Space" if character == " " else character)
                    await asyncio.sleep(PAUSE)
            for each in (bare, ours):
                await each.keyboard.press("Escape")
                await each.keyboard.press("Enter")
        return await bare.evaluate("times"), await ours.evaluate("times")


async def _first_completions(browser: Browser, page: Path) -> list[float]:
    found = []
    for _ in range(COMPLETIONS):
        async with _opened(browser, page, "ours", 4 * 1024) as ours:
            await ours.keyboard.type("select f. from table_3 f")
            for _ in range(len(" from table_3 f")):
                await ours.keyboard.press("ArrowLeft")
            await ours.keyboard.press("Escape")
            found.append(await ours.evaluate("(tables) => firstCompletion(tables)", TABLES))
    return found


@asynccontextmanager
async def _opened(browser: Browser, page: Path, editor: str, size: int) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        opened = await context.new_page()
        await opened.goto(page.as_uri())
        await opened.evaluate("([editor, text, tables]) => window[editor](text, tables)", [editor, _text(size), TABLES])
        await asyncio.sleep(2)  # the rest of the text is read while nobody types
        yield opened
    finally:
        await context.close()


def _text(size: int) -> str:
    half = LINE * (size // len(LINE) // 2)
    head = "select f.carrier, count(*) from flights f where true\n"
    return f"{head}{half};\n{HERE}\n;\n{head}{half}"


def _percentile(values: Sequence[Any], share: int) -> float:
    return float(statistics.quantiles(values, n=100)[share - 1])
