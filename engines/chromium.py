"""A real browser: headless Chromium out of an npm package, or the one that $CHROMIUM names, driven by Playwright.

Playwright's synchronous interface leaves an event loop running in the thread, which no async test survives, so this is
the asynchronous one. A browser lives for one module of tests, with the event loop of its tests. A package with many
such modules makes it a fixture of the package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from engines.locks import locked

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page, Playwright, Request

PACKAGE = Path(__file__).resolve().parents[1] / "tests" / "browser"
UNPACKED = PACKAGE / "node_modules" / ".unpacked"

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # what is drawn is not sent to another process: an eighth of the processor's time of a page
    "--disable-background-networking",
    "--font-render-hinting=none",
]

_LAUNCHES = 3
START_MILLISECONDS = 180_000
PATIENCE_MILLISECONDS = 60_000
"""What a page is told to do may take so long, unless the test says otherwise: a busy machine must not fail it."""

NOTE_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.effectiveDirective}: ${event.blockedURI || event.sample}`);
});
"""

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

CRASH = "the page crashed"

VIOLATIONS = "new Promise((resolve) => setTimeout(() => resolve(window.violations)))"
"""Asked for a task later: the browser tells of a violation in a task of its own, after the one that met it."""


@dataclass
class Watched:
    """A page, and everything it did that a good page does not do."""

    page: Page
    console: list[str] = field(default_factory=list)
    """Errors and warnings of the console, and uncaught exceptions."""
    requests: list[Request] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Requests without an answer, with the reason, and a crash of its process."""

    async def violations(self) -> list[str]:
        """What its Content-Security-Policy refused since the page was loaded."""
        found: list[str] = await self.page.evaluate(VIOLATIONS)
        return found

    def hosts(self) -> set[str]:
        """Where its requests went."""
        return {host for request in self.requests if (host := urlsplit(request.url).netloc)}


OpenPage = Callable[..., Awaitable[Watched]]


@pytest.fixture(scope="session")
def chromium_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The browser's executable. Fails where a package's browser files are not built."""
    for package in ("tenantry", "tenantry_site"):
        require_bundles(Path(str(files(package))) / "static" / "bundles")
    return executable(tmp_path_factory.mktemp("npm"))


def require_bundles(folder: Path) -> None:
    """Fail where ``folder`` holds no browser files. Without this check each test waits a minute for an empty page."""
    if not (folder / "stamp.txt").is_file():
        pytest.fail(f"There are no browser files in {folder}. `pip install -e . -e site` builds them.", pytrace=False)


def executable(cache: Path) -> str:
    """The browser's; the first run on a machine installs and unpacks it: about 6 s. ``cache``: a folder for npm."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    if not (UNPACKED / "chromium").exists():
        # While no other process of this checkout installs: two runs of npm in one folder undo each other's work.
        with locked(PACKAGE):
            if not (UNPACKED / "chromium").exists():
                _install(cache)
    return str(UNPACKED / "chromium")


def _install(cache: Path) -> None:
    if not (PACKAGE / "node_modules" / "@sparticuz").is_dir():
        _run(["npm", "ci", "--ignore-scripts", "--fetch-retries=0", "--no-audit", "--no-fund"], {})
    # It unpacks under a fixed name into the temporary folder, and takes whatever is there: give it one of its own.
    draft = UNPACKED.with_name(f".unpacking-{os.getpid()}")
    draft.mkdir()
    ask = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();"
    try:
        _run(["node", "--input-type=module", "-e", ask], {"TMPDIR": str(draft), "npm_config_cache": str(cache)})
        draft.rename(UNPACKED)
    except OSError:  # another run was quicker
        if not (UNPACKED / "chromium").exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=PACKAGE, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        pytest.fail(f"no browser: {' '.join(command[:2])} failed in {PACKAGE}\n{done.stderr}", pytrace=False)


async def launched(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """Chromium, with a temporary folder and a home of its own. A fixture of any scope can be made of it."""
    async with chromium(chromium_path, tmp_path_factory.mktemp("chromium")) as started:
        yield started


browser = pytest.fixture(launched, scope="module", name="browser")


@asynccontextmanager
async def chromium(path: str, home: Path) -> AsyncIterator[Browser]:
    """The browser of this executable, with ``home`` as its home and temporary folder."""
    from playwright.async_api import async_playwright  # every test run loads this file, few need a browser

    environment: dict[str, Any] = {**os.environ, "TMPDIR": str(home), "HOME": str(home)}
    async with async_playwright() as playwright:
        launched = await _launch(playwright, executable_path=path, env=environment)
        yield launched
        await launched.close()


async def _launch(playwright: Playwright, **options: Any) -> Browser:
    """Once in some hundred starts this build of the browser dies of a segmentation fault before its first page."""
    from playwright.async_api import Error

    options |= {"args": ARGUMENTS, "chromium_sandbox": False, "timeout": START_MILLISECONDS}
    for _ in range(_LAUNCHES - 1):
        with suppress(Error):
            return await playwright.chromium.launch(**options)
    return await playwright.chromium.launch(**options)


@pytest.fixture
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """``await open_page(width=…, height=…, dark=…, **context)``: a watched page in a context of its own."""
    contexts = []

    async def opened(*, width: int = 1440, height: int = 900, dark: bool = False, **options: Any) -> Watched:
        seen = await watched_page(browser, width, height, color_scheme="dark" if dark else "light", **options)
        contexts.append(seen.page.context)
        return seen

    yield opened
    for context in contexts:
        await context.close()


async def watched_page(browser: Browser, width: int, height: int, **options: Any) -> Watched:
    """A watched page in a new context with these options."""
    context = await browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    await context.add_init_script(NOTE_VIOLATIONS)
    return await watch(await context.new_page())


async def watch(page: Page) -> Watched:
    """Begins to note what a page does."""
    watched = Watched(page)
    page.on("pageerror", lambda error: watched.console.append(f"uncaught: {error}"))
    page.on(
        "console",
        lambda message: watched.console.append(message.text) if message.type in {"error", "warning"} else None,
    )
    page.on("request", lambda request: watched.requests.append(request))  # Playwright marks its handlers
    page.on("requestfailed", lambda request: watched.lost.append(f"{request.url}: {request.failure}"))
    page.on("crash", lambda _: watched.lost.append(CRASH))
    return watched


async def set_hidden(page: Page, hidden: bool) -> None:
    """As when another tab covers the page, or no longer does."""
    await page.evaluate(HIDE, hidden)


async def follow(link: Locator) -> None:
    """Clicks what leads to another page and waits for the whole of it: a click alone returns when that has begun.

    What does not wait by itself (``count``, ``is_visible``, ``evaluate``) then reads a page half there.
    """
    async with link.page.expect_event("load"):
        await link.click()
