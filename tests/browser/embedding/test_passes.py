"""The element and passes: it renews them before they end, and says why one is refused."""

from __future__ import annotations

import json
import math
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame, Page, Response

from engines.chromium import OpenPage, Watched
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey, sign_pass
from tests.browser.embedding.frames import dashboards, noted, there, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

SECONDS = 3
AHEAD = 3
"""Seconds that a host's clock is ahead: a busy machine has so long for the next pass before this one ends."""
FILES = {
    "sales/regions.yaml": """title: Flights of {{ viewer.name }}
rows:
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}"}}
""",
}
WATCH = """() => {
  window.mutations = [];
  const seen = (found) => window.mutations.push(...found.map(({ type, target }) => [type, target.nodeName]));
  const all = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(seen).observe(document, all);
}"""
FAILS_ONCE = """() => {
  const element = document.querySelector("#acme");
  const ask = element.getToken;
  element.getToken = () => ((element.getToken = ask), Promise.reject(new Error("down")));
}"""
SLOW_ONCE = """(wait) => {
  const element = document.querySelector("#acme");
  const ask = element.getToken;
  element.getToken = async () => {
    element.getToken = ask;
    await new Promise((resolve) => setTimeout(resolve, wait));
    return ask();
  };
  return noted.asked.acme;
}"""


def short_pass(token: str) -> str:
    """It is valid for SECONDS, and AHEAD and the rest of this second before them."""
    starts = math.ceil(time.time()) + AHEAD
    claims = {"iat": starts, "exp": starts + SECONDS, "sub": "ann", "viewer": {"name": "Ann"}}
    return sign_pass(token, claims | {"jti": secrets.token_hex(4)})


def dead_pass(token: str) -> str:
    """As a host makes it whose clock is an hour slow."""
    starts = int(time.time()) - 3_600
    return sign_pass(token, {"iat": starts, "exp": starts + 600, "jti": secrets.token_hex(4)})


def long_pass(token: str) -> str:
    """As a host makes it that takes milliseconds for seconds; no pass of ours is as long, so its claims are forged."""
    starts = int(time.time() * 1_000)
    claims = json.dumps({"iat": starts, "exp": starts + 3_600_000, "jti": secrets.token_hex(4)}).encode()
    public, header, _, signature = short_pass(token).split(".")
    return f"{public}.{header}.{urlsafe_b64encode(claims).rstrip(b'=').decode()}.{signature}"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        served.made_pass = short_pass
        yield served


async def visit(open_page: OpenPage, real: Sites) -> tuple[Watched, list[int]]:
    """The product's page, and the status of each request for panels."""
    seen = await open_page(new=True)
    statuses: list[int] = []

    def note(response: Response) -> None:
        if response.url.endswith("/-/panels"):
            statuses.append(response.status)

    seen.page.on("response", note)
    await seen.page.goto(f"{real.host}/?groups=acme")
    return seen, statuses


async def frame_with_rows(page: Page, real: Sites, seen: Watched) -> Frame:
    async def found() -> Frame | None:
        for frame in dashboards(page, real):
            text = await frame.locator("body").inner_text()
            if "120" in text and "Flights of Ann" in text:
                return frame
        return None

    frame: Frame = await until(found, lambda: there(seen, real))
    return frame


async def errors(page: Page) -> list[Any]:
    return [detail for _, kind, detail in (await noted(page))["events"] if kind == "error"]


async def has_more(statuses: list[int], count: int) -> bool:
    return len(statuses) >= count


async def has_asked(page: Page, count: int) -> bool:
    return bool((await noted(page))["asked"].get("acme", 0) >= count)


@pytest.mark.slow
async def test_three_passes_end_and_nobody_notices(open_page: OpenPage, real: Sites) -> None:
    """No request is refused, nothing in the frame changes, and there is no event ``error``. The response that stays
    open ends with each pass, and the page asks with the next. Red when the element waits for a refusal: 401s."""
    seen, statuses = await visit(open_page, real)
    frame = await frame_with_rows(seen.page, real, seen)
    await until(frame.locator(".on-paper").count, "the last that a page adds")
    await frame.evaluate(WATCH)
    before = len(statuses)
    await until(lambda: has_more(statuses, before + 3), "the end of three passes")
    assert await frame.evaluate("window.mutations") == []
    assert set(statuses) == {200}
    assert await has_asked(seen.page, 4)
    assert await errors(seen.page) == []
    assert seen.console == []


@IN_CHROMIUM
@pytest.mark.slow
async def test_a_renewal_that_fails_is_tried_again_at_the_end(open_page: OpenPage, real: Sites) -> None:
    """The pass is still valid then, so nothing is said. Red when that failure is an event."""
    seen, statuses = await visit(open_page, real)
    await frame_with_rows(seen.page, real, seen)
    await seen.page.evaluate(FAILS_ONCE)
    await until(lambda: _is_refused(statuses), "the end of the pass")
    await until(lambda: _is_answered(statuses), "another pass after the failure")
    assert await errors(seen.page) == []


@IN_CHROMIUM
@pytest.mark.slow
async def test_a_refused_request_waits_for_the_pass_that_is_on_its_way(open_page: OpenPage, real: Sites) -> None:
    """The host is not asked once more. Red when the element does not compare the refused pass with its last one."""
    seen, statuses = await visit(open_page, real)
    await frame_with_rows(seen.page, real, seen)
    asked = await seen.page.evaluate(SLOW_ONCE, 8_000)
    await until(lambda: _is_refused(statuses), "a refused request")
    await until(lambda: _is_answered(statuses), "its answer")
    assert (await noted(seen.page))["asked"] == {"acme": asked + 1}
    assert await errors(seen.page) == []


async def _is_refused(statuses: list[int]) -> bool:
    return 401 in statuses


async def _is_answered(statuses: list[int]) -> bool:
    return 401 in statuses and statuses[-1] == 200


@IN_CHROMIUM
@pytest.mark.parametrize(
    ("made_pass", "reason"), [(dead_pass, "pass_expired"), (long_pass, "invalid_token")], ids=["dead", "long"]
)
async def test_an_error_says_why_passes_are_refused(
    open_page: OpenPage, real: Sites, made_pass: Callable[[str], str], reason: str
) -> None:
    """They have ended when they come, since the host's clock is slow, or they never end: the host is asked twice. Red
    without ``reason``, since nothing led to the clock; and when a long wait overflows, which asked the host without
    end."""
    real.made_pass = made_pass
    seen, statuses = await visit(open_page, real)
    await until(lambda: errors(seen.page), "the error")
    assert await errors(seen.page) == [{"code": "refused", "reason": reason}]
    assert statuses == [401, 401]
    assert (await noted(seen.page))["asked"] == {"acme": 2}
