"""The docs in the demo, in a real browser: the playground provisions a group in the server that shows it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from playwright.async_api import Page

from engines.axe import serious
from engines.chromium import NOTE_VIOLATIONS, OpenPage, follow
from tenantry.backends.sql import SQLStore
from tests.demo.stage import put_flights

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
RELAY = {"Content-Type": "application/json", "X-Tenantry-Relay": "1"}


@dataclass
class Started:
    """A running demo: where its docs are, the API token that it printed, and its store."""

    url: str
    api_token: str
    store: Path

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/docs/")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """``tenantry demo``, as somebody at a terminal starts it."""
    folder = tmp_path_factory.mktemp("demo")
    put_flights(folder, tmp_path_factory)
    command = [sys.executable, "-W", "error", "-m", "tenantry", "demo", "--folder", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
    assert process.stderr is not None
    text = ""
    for line in process.stderr:
        text += line
        if line.startswith("Ctrl-C"):
            break
    url, token = re.search(r"http://127\S+/docs/", text), re.search(r"\bugkc_\w+", text)
    assert url is not None, text
    assert token is not None, text
    yield Started(url[0], token[0], folder / "tenantry.db")
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=120)
    assert "Traceback" not in log
    assert token[0] not in log


async def test_the_playground_provisions_a_group_in_the_running_server(open_page: OpenPage, demo: Started) -> None:
    """Open the docs, go to the page of GET /api/user, paste the token, send: the group is in the store.

    Red without the relay: a browser sends no body with GET.
    """
    seen = await open_page()
    page = seen.page
    await page.goto(demo.url)
    await follow(page.get_by_role("link", name="Try the API"))
    assert await page.title() == "Get or create a user group – Tenantry"
    secret = page.locator("[data-credential]").first
    assert await page.locator(".try-prefix code").first.inner_text() == "Token "
    await secret.fill(demo.api_token)
    body = {"user_group_id": "from-the-docs", "name": "From the docs", "properties": {"region": "eu"}}
    await page.locator("[data-body]").first.fill(json.dumps(body))
    await page.get_by_role("button", name="Send").click()
    answer = page.locator("[data-answer]")
    await answer.wait_for()

    shown = await answer.inner_text()
    assert "200" in shown
    assert '"new_user_group": true' in shown
    store = SQLStore(f"sqlite:///{demo.store}")
    try:
        environment = await store.environments.get("demo")
        assert environment is not None
        found = await store.groups.get(environment, "from-the-docs")
        assert found is not None
        assert found.group.properties == {"region": "eu"}
    finally:
        await store.aclose()
    assert seen.console == []
    assert await seen.violations() == []
    assert {f"http://{host}" for host in seen.hosts()} == {demo.origin}
    for storage in ("localStorage", "sessionStorage"):
        assert demo.api_token not in await page.evaluate(f"JSON.stringify({storage})")


def test_the_docs_are_reached_without_the_slash_too(demo: Started) -> None:
    """Red when the demo mounts the docs themselves: /docs would be no page."""
    with httpx2.Client(base_url=demo.origin, timeout=120) as client:
        moved = client.get("/docs?from=readme")
        assert (moved.status_code, moved.headers["location"]) == (308, "./docs/?from=readme")
        arrived = client.get("/docs", follow_redirects=True)
        assert (arrived.status_code, str(arrived.url)) == (200, demo.url)
        assert client.post("/docs").status_code == 405


QUERIES = {
    "kubernetes": "deploy/kubernetes",
    "docker": "deploy/docker",
    "nginx": "deploy/proxies",
    "systemd": "deploy/systemd",
    "multi tenant": "concepts",
    "multi-tenant": "concepts",
    "multitenant": "concepts",
    "tenant isolation": "index",
    "fastapi": "frameworks",
    "tab completion": "command-line",
    "rotate token": "api/rotate",
}


async def test_the_search_finds_what_a_newcomer_types(open_page: OpenPage, demo: Started) -> None:
    """Among the first five. Red when a page loses its words, or a word with a hyphen is cut only."""
    page = (await open_page()).page
    await page.goto(demo.url)
    await page.keyboard.press("/")
    missed = {}
    for query, wanted in QUERIES.items():
        await page.fill("#Site-search-input", "")
        await page.wait_for_selector("#Site-search-status:empty", state="attached")
        await page.fill("#Site-search-input", query)
        await page.wait_for_selector("#Site-search-status:not(:empty)", state="attached")
        found = [await each.get_attribute("href") for each in await page.locator("#Site-search-results > *").all()]
        paths = [str(each).removeprefix(demo.url).partition("#")[0].removesuffix(".html") for each in found]
        if wanted not in paths[:5]:
            missed[query] = paths
    assert missed == {}


async def test_the_playground_says_what_the_server_says(open_page: OpenPage, demo: Started) -> None:
    """A wrong token is a 401 of the API, shown; not an error of the page."""
    page = (await open_page()).page
    await page.goto(f"{demo.url}api/get-or-create")
    await page.locator("[data-credential]").first.fill("ugkc_wrong")
    await page.get_by_role("button", name="Send").click()
    answer = page.locator("[data-answer]")
    await answer.wait_for()
    shown = await answer.inner_text()
    assert "401" in shown
    assert "unauthorized" in shown


MODES: dict[Literal["light", "dark"], list[str]] = {"light": [], "dark": ["color-contrast", "link-in-text-block"]}


async def noticed(page: Page, *without: str) -> list[str]:
    """In both modes: in the dark only the colours differ, and nothing else is asked again."""
    found = []
    for mode, only in MODES.items():
        await page.emulate_media(color_scheme=mode)
        await page.evaluate("new Promise(requestAnimationFrame)")  # its scripts are told before the next frame
        found += await serious(page, only=only, without=without)
    return found


async def test_every_page_is_whole(open_page: OpenPage, demo: Started) -> None:
    """On a narrow screen: one heading of the first level, a clean console, no violation of the policy that the server
    sends, no request to elsewhere, nothing wider than the screen."""
    seen = await open_page(width=360)
    first = await seen.page.goto(demo.url)
    assert first is not None
    policy = first.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    paths = [path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.md"))]
    assert len(paths) > 40
    wrong = []
    for path in paths:
        found = await seen.page.evaluate(WRITTEN, demo.url + path)
        if found != [200, policy, 1, True, []] or seen.console:
            wrong.append((path, found, seen.console[:]))
    assert wrong == []
    assert {f"http://{host}" for host in seen.hosts()} == {demo.origin}


WRITTEN = f"""async (url) => {{
  const answer = await fetch(url);
  const text = await answer.text();
  history.replaceState(null, "", url);
  document.open();
  {NOTE_VIOLATIONS}
  const loaded = new Promise((resolve) => addEventListener("load", resolve));
  document.write(text);
  document.close();
  await loaded;
  return [
    answer.status,
    answer.headers.get("content-security-policy"),
    document.querySelectorAll("h1").length,
    document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    window.violations,
  ];
}}"""
"""Shows another page in the document of this one, with its scripts: a third of the time of going to it."""

KINDS = ["concepts", "site-diagnostics", "templates", "api/get-or-create"]
SIDEBARS = ["", "api/ready", "decisions/README"]
"""Pages of other kinds, one of each sidebar."""


async def test_each_kind_of_page_can_be_used_by_all(open_page: OpenPage, demo: Started) -> None:
    """Nothing that axe calls serious: on text, tables, code, a form; with the search or the menu open; on the 404."""
    seen = await open_page()
    page = seen.page
    for path in KINDS:
        await page.goto(demo.url + path)
        assert await noticed(page, ".sidebar") == [], path
    for path in SIDEBARS:
        await page.goto(demo.url + path)
        assert await noticed(page) == [], path
    await page.keyboard.press("/")
    await page.keyboard.type("token")
    await page.get_by_role("option").first.wait_for()
    assert await noticed(page, ".sidebar", "main") == []
    assert seen.console == []
    answer = await page.goto(f"{demo.url}no/such/page")
    assert answer is not None
    assert answer.status == 404
    assert await noticed(page, ".sidebar") == []
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.locator("details.menu summary").click()
    assert await noticed(page) == []
    await follow(page.locator(".sidebar").get_by_role("link", name="Concepts"))
    assert await page.title() == "Concepts – Tenantry"


async def test_the_search_works_below_a_mount(open_page: OpenPage, demo: Started) -> None:
    """With the keyboard alone, from a page in a folder; nothing found is said, and Escape gives the focus back."""
    page = (await open_page()).page
    await page.goto(f"{demo.url}api/rotate")
    opener = page.get_by_role("button", name="Search")
    await opener.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.type("xylophone zzz")
    status = page.locator("dialog [role=status]")
    await status.filter(has_text="Nothing found").wait_for()
    await page.keyboard.press("Escape")
    assert await opener.evaluate("(button) => button === document.activeElement")
    await page.keyboard.press("/")
    await page.keyboard.type("staleness bound")
    await page.locator("[role=option][aria-selected=true]").wait_for()
    async with page.expect_navigation():
        await page.keyboard.press("Enter")
    assert page.url.startswith(demo.url)
    assert "api/rotate" not in page.url
    assert await page.locator("h1").count() == 1


async def test_without_a_script_the_docs_are_read(open_page: OpenPage, demo: Started) -> None:
    """Text, navigation and the description of the API; no button that does nothing."""
    page = (await open_page(java_script_enabled=False)).page
    await page.goto(demo.url)
    await follow(page.locator(".tabs").get_by_role("link", name="HTTP interface"))
    assert await page.locator("h1").inner_text() == "Get or create a user group"
    assert await page.get_by_text("user_group_id").first.is_visible()
    assert await page.get_by_text("curl --request GET").is_visible()
    for name in ("Search", "Dark mode", "Send", "Copy", "Show"):
        assert [await each.is_visible() for each in await page.get_by_role("button", name=name).all()].count(True) == 0
    await follow(page.locator(".steps .next"))
    assert await page.locator("h1").inner_text() == "Update a user group"


def test_the_relay_of_the_demo_reaches_the_demo_alone(demo: Started) -> None:
    """Red when the demo opens more of this machine than itself, or answers a page that came by another name."""
    allowed = {"url": f"{demo.origin}/healthz"}
    assert httpx2.post(f"{demo.url}_relay", headers=RELAY, json=allowed, timeout=120).json()["status"] == 200
    for url in ("http://127.0.0.1:22/", "http://localhost/", "http://169.254.169.254/", "https://example.com/"):
        refused = httpx2.post(f"{demo.url}_relay", headers=RELAY, json={"url": url}, timeout=120)
        assert refused.json()["error"]["code"] == "origin_not_allowed"
    elsewhere = httpx2.post(f"{demo.url}_relay", headers={**RELAY, "Host": "evil.example"}, json=allowed, timeout=120)
    assert elsewhere.json()["error"]["code"] == "foreign_request"
    loop = {"method": "POST", "url": f"{demo.url}_relay", "headers": RELAY, "body": "{}"}
    assert (
        httpx2.post(f"{demo.url}_relay", headers=RELAY, json=loop, timeout=120).json()["error"]["code"]
        == "header_refused"
    )
