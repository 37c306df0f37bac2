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

import httpx2
import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tenantry.backends.sql import SQLStore
from tests.engines.chromium import OpenPage

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
    _, log = process.communicate(timeout=20)
    assert "Traceback" not in log
    assert token[0] not in log


async def test_the_playground_provisions_a_group_in_the_running_server(open_page: OpenPage, demo: Started) -> None:
    """Open the docs, go to the page of GET /api/user, paste the token, send: the group is in the store.

    Red without the relay: a browser sends no body with GET.
    """
    seen = await open_page()
    page = seen.page
    await page.goto(demo.url)
    await page.get_by_role("link", name="Try the API").click()
    assert await page.title() == "Get or create a user group – Tenantry"
    secret = page.locator("[data-credential]").first
    assert await secret.input_value() == "Token "
    await secret.fill(f"Token {demo.api_token}")
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
        environment = await store.environment("demo")
        assert environment is not None
        found = await store.get(environment, "from-the-docs")
        assert found is not None
        assert found.group.properties == {"region": "eu"}
    finally:
        await store.aclose()
    assert seen.console == []
    assert await seen.violations() == []
    assert {f"http://{host}" for host in seen.hosts()} == {demo.origin}
    for storage in ("localStorage", "sessionStorage"):
        assert demo.api_token not in await page.evaluate(f"JSON.stringify({storage})")


async def test_the_playground_says_what_the_server_says(open_page: OpenPage, demo: Started) -> None:
    """A wrong token is a 401 of the API, shown; not an error of the page."""
    page = (await open_page()).page
    await page.goto(f"{demo.url}api/get-or-create")
    await page.locator("[data-credential]").first.fill("Token ugkc_wrong")
    await page.get_by_role("button", name="Send").click()
    answer = page.locator("[data-answer]")
    await answer.wait_for()
    shown = await answer.inner_text()
    assert "401" in shown
    assert "unauthorized" in shown


PAGES = ["", "tutorial", "security", "api/get-or-create"]


@pytest.mark.parametrize("path", PAGES)
async def test_pages_are_whole_at_every_width(path: str, open_page: OpenPage, demo: Started) -> None:
    """A clean console, no request to elsewhere, nothing wider than the screen, no serious finding of axe."""
    for width, dark in ((1440, False), (360, True)):
        seen = await open_page(width=width, dark=dark)
        await seen.page.goto(demo.url + path)
        assert await seen.page.locator("h1").count() == 1
        wide = await seen.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0
        assert seen.console == []
        assert await seen.violations() == []
        assert {f"http://{host}" for host in seen.hosts()} == {demo.origin}
        await seen.page.evaluate(AXE_SCRIPT)
        found = await seen.page.evaluate("axe.run()")
        serious = [each for each in found["violations"] if each["impact"] in {"serious", "critical"}]
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in serious] == []


def test_the_relay_of_the_demo_reaches_the_demo_alone(demo: Started) -> None:
    """Red when the demo opens more of this machine than itself, or answers a page that came by another name."""
    allowed = {"url": f"{demo.origin}/healthz"}
    assert httpx2.post(f"{demo.url}_relay", headers=RELAY, json=allowed).json()["status"] == 200
    for url in ("http://127.0.0.1:22/", "http://localhost/", "http://169.254.169.254/", "https://example.com/"):
        refused = httpx2.post(f"{demo.url}_relay", headers=RELAY, json={"url": url})
        assert refused.json()["error"]["code"] == "origin_not_allowed"
    elsewhere = httpx2.post(f"{demo.url}_relay", headers={**RELAY, "Host": "evil.example"}, json=allowed)
    assert elsewhere.json()["error"]["code"] == "foreign_request"
    loop = {"method": "POST", "url": f"{demo.url}_relay", "headers": RELAY, "body": "{}"}
    assert httpx2.post(f"{demo.url}_relay", headers=RELAY, json=loop).json()["error"]["code"] == "header_refused"
