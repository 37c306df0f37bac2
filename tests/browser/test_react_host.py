"""Hosts in TypeScript and React: what is served to them, as files and as a package for npm, compiles under `--strict`,
is rendered on a server, and runs in Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame, Page

from engines.chromium import OpenPage, Watched
from engines.npm import PackagesMissing, install_packages
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

pytestmark = pytest.mark.slow

HOST = Path(__file__).parent / "react"
BUNDLES = files("tenantry") / "static" / "bundles"
SERVED = ("embed.d.ts", "embed-react.d.ts", "embed-react.js")
PACKAGE = "tenantry-dashboard"
ON_A_SERVER = f"""
import {{ createElement }} from "react";
import {{ renderToString }} from "react-dom/server";
import {{ TenantryDashboard }} from "{PACKAGE}";
import {{ Dashboard }} from "{PACKAGE}/react";
const props = {{ src: "https://dashboards.example.com/dashboards", name: "sales", getToken: async () => "token" }};
console.log(typeof TenantryDashboard, renderToString(createElement(Dashboard, props)));
"""
SECONDS = 600
FILES = {
    "sales/regions.yaml": """title: Flights of a route
controls:
  route: {choices: [A-B, A-C]}
  least: {number: }
rows:
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}
      [[and route = {{ params.route }}]] [[and delay >= {{ params.least }}]]"}}
  - {table: {sql: select 7 as id}, columns: [id], click: {event: [id]}}
""",
}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two hosts: their programs, and what they have from the dashboards' server. ``files`` copied the
    files, ``package`` has the package among those of npm."""
    try:
        modules = install_packages(HOST)
    except PackagesMissing as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("hosts")
    for host in ("files", "package"):
        (folder / host).mkdir()
        shutil.copy(HOST / "host.tsx", folder / host)
    shutil.copy(HOST / "tsconfig.json", folder)
    (folder / "node_modules").symlink_to(modules)
    for name in SERVED:
        (folder / "files" / name).write_bytes((BUNDLES / name).read_bytes())
    _install(folder / "package")
    return folder


def _install(folder: Path) -> None:
    own = folder / "node_modules"
    own.mkdir()
    with (BUNDLES / "embed.tgz").open("rb") as packed, tarfile.open(fileobj=packed) as tar:
        tar.extractall(own, filter="data")
    (own / "package").rename(own / PACKAGE)
    program = folder / "host.tsx"
    text = (
        program.read_text().replace('"./embed-react.js"', f'"{PACKAGE}/react"').replace('"./embed.js"', f'"{PACKAGE}"')
    )
    program.write_text(text)


@pytest.fixture(params=["files", "package"])
def host(request: pytest.FixtureRequest, hosts: Path) -> Path:
    """The folder of one of them."""
    return hosts / str(request.param)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *command], cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)


def test_both_hosts_compile_under_strict(hosts: Path) -> None:
    """With the element's types and the wrapper's, and no library check left out; what is wrong in it is refused, each
    at its line (``@ts-expect-error``). Red without embed-react.d.ts, and with ``any`` for the detail of an event."""
    done = run(hosts, "node_modules/typescript/bin/tsc", "-p", ".")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("host", ["package"], indirect=True)
def test_a_host_renders_on_its_server(host: Path) -> None:
    """Without a DOM. Red when the element's file needs HTMLElement as soon as it is imported."""
    done = run(host, "--input-type=module", "-e", ON_A_SERVER)
    element = '<tenantry-dashboard src="https://dashboards.example.com/dashboards" name="sales"></tenantry-dashboard>'
    assert (done.stdout, done.stderr) == (f"function {element}\n", "")


@pytest.fixture
def program(host: Path) -> str:
    """The host as one script, with React's own warnings in it."""
    options = ["--bundle", "--format=esm", '--define:process.env.NODE_ENV="development"', "--log-level=warning"]
    done = run(host, "../node_modules/esbuild/bin/esbuild", "host.tsx", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def test_the_wrapper_mounts_follows_and_leaves(open_page: OpenPage, real: Sites, program: str) -> None:
    """With real React in its strict mode, which mounts everything twice: one frame, one answer; filters that change
    reach the frame, events reach the handlers, and the element goes with its component. Red when effects are not
    undone: the notes would be there twice; red when another object with the same filters sets them again: the note
    of the viewer's choice draws the host once more, and the choice was gone. A key that is taken out goes back."""
    seen = await open_page()
    page = seen.page

    async def script(route: Any) -> None:
        await route.fulfill(body=program, content_type="text/javascript")

    await page.route("**/host.js", script)
    if "attachShadow" in program:  # it holds the element, too: the served one is not needed
        await page.route("**/embed.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    await page.goto(f"{real.host}/?groups=")
    await until(lambda: _shows(page, real, "Flights of a route", "60"), "the dashboard")
    (frame,) = dashboards(page, real)
    assert await frame.evaluate("document.documentElement.dataset.mode") == "dark"
    assert await page.locator("tenantry-dashboard[aria-label=Sales][role=group].wide").count() == 1
    await until(lambda: notes(page), "a note of a handler")
    assert await notes(page) == ["ready sales/regions Flights of a route"]
    await page.get_by_role("button", name="Other filters").click()
    await until(lambda: _has_chip(frame, "Route: A-B"), "the other filters")
    await frame.get_by_label("Least", exact=True).fill("6")
    chosen = 'filters {"route":"A-B","least":"6"}'
    await until(lambda: _noted(page, chosen), "the viewer's choice in a handler")
    assert len(await notes(page)) == len(set(await notes(page)))
    assert await _has_chip(frame, "Least: 6")
    await page.locator("tenantry-dashboard").dispatch_event("click")  # of a mouse, on the element's edge
    await frame.get_by_role("button", name="7", exact=True).click()
    await until(lambda: _noted(page, 'click {"id":7}'), "the click in a handler")
    assert [text for text in await notes(page) if text.startswith("click")] == ['click {"id":7}']
    await page.get_by_role("button", name="No filters").click()
    await until(lambda: _has_no_chip(frame), "no filters")
    await page.get_by_role("button", name="Other filters").click()
    await until(lambda: _has_chip(frame, "Route: A-B"), "the other filters again")
    await page.get_by_role("button", name="Close").click()
    await until(lambda: _frames(page, real, 0), "the end of the frame")
    await page.get_by_role("button", name="Open").click()
    await until(lambda: _shows(page, real, "Flights of a route"), "the dashboard again")
    await until(lambda: _has_chip(dashboards(page, real)[0], "Route: A-B"), "the filters again")
    assert problems(seen) == []
    assert [line for line in real.requests if line.startswith("POST") and "404" in line] == []


def problems(seen: Watched) -> list[str]:
    return [text for text in seen.console if "404" not in text]  # the product's page has no icon


async def notes(page: Page) -> list[str]:
    return await page.locator("li").all_inner_texts()


async def _noted(page: Page, text: str) -> bool:
    return text in await notes(page)


async def _shows(page: Page, real: Sites, *words: str) -> bool:
    found = dashboards(page, real)
    text = await found[0].locator("body").inner_text() if len(found) == 1 else ""
    return all(word in text for word in words)


async def _has_chip(frame: Frame, text: str) -> bool:
    return text in await frame.locator(".chip").all_inner_texts()


async def _has_no_chip(frame: Frame) -> bool:
    return await frame.locator(".chip").count() == 0


async def _frames(page: Page, real: Sites, count: int) -> bool:
    return len(dashboards(page, real)) == count
