"""What goes over the wire: tags, packing, heads."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tenantry_site.app import responses
from tenantry_site.app.responses import ResponseSender, SiteResponse, accepts_gzip, prefers_markdown
from tests.app.wire import Got, ask

TEXT = b"a page " * 500
PAGE = SiteResponse(TEXT, "text/html; charset=utf-8")


async def sent(response: SiteResponse, method: str = "GET", **headers: str) -> Got:
    sender = ResponseSender({"X-Content-Type-Options": "nosniff"})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await sender.send(response, scope, send)

    return await ask(app, "/", method, {name.replace("_", "-"): value for name, value in headers.items()})


async def test_a_page_is_sent_whole_or_compressed() -> None:
    """And a cache on the way knows that there are two. Red without Vary."""
    plain, packed = await sent(PAGE), await sent(PAGE, accept_encoding="br, gzip;q=0.5")
    assert plain.body == TEXT == gzip.decompress(packed.body)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == packed.headers["vary"] == "accept, accept-encoding"
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert plain.headers["etag"] == packed.headers["etag"]


async def test_what_is_compressed_already_is_not_packed_again() -> None:
    picture = await sent(SiteResponse(TEXT, "image/png"), accept_encoding="gzip")
    assert picture.body == TEXT
    assert "vary" not in picture.headers
    assert "content-encoding" not in (await sent(SiteResponse(b"short", "text/css"), accept_encoding="gzip")).headers


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True), ("GZIP", True), ("*", True), ("gzip;q=0.001", True), ("br;q=1, gzip; q=0.8", True),
        ("", False), ("br", False), ("gzip;q=0", False), ("gzip;q=0.000", False), ("*;q=0", False),
        ("gzip;q=0, *", False),
    ],
)  # fmt: skip
def test_who_accepts_gzip(header: str, takes: bool) -> None:
    assert accepts_gzip(header) is takes


async def test_who_has_it_already_gets_not_modified() -> None:
    """Red when a browser loads each page whole again."""
    tag = (await sent(PAGE)).headers["etag"]
    for header in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = await sent(PAGE, if_none_match=header)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert "content-type" in again.headers
    assert (await sent(PAGE, if_none_match='"other"')).status == 200
    missing = SiteResponse(TEXT, "text/html", 404)
    assert (await sent(missing, if_none_match="*")).status == 404


async def test_a_head_has_the_length_and_no_body() -> None:
    head = await sent(PAGE, "HEAD")
    assert (head.body, head.headers["content-length"]) == (b"", str(len(TEXT)))


async def test_compressed_bytes_are_cached_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when each page is packed at each request, or when all are kept for ever."""
    packed: list[bytes] = []
    real = responses._gzip
    monkeypatch.setattr(responses, "_gzip", lambda content: packed.append(content) or real(content))
    monkeypatch.setattr(responses, "_CACHE_BYTES", 1_000)
    sender = ResponseSender({})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        number = scope["path"].removeprefix("/")
        await sender.send(SiteResponse(number.encode() * 1_000, "text/css"), scope, send)

    for _ in range(3):
        await ask(app, "/1", headers={"Accept-Encoding": "gzip"})
    assert len(packed) == 1
    for number in range(100):
        await ask(app, f"/{number}", headers={"Accept-Encoding": "gzip"})
    assert sum(map(len, sender._compressed.values())) <= 1_000


@pytest.mark.parametrize(
    ("header", "prefers"),
    [
        ("text/markdown", True),
        ("text/markdown, text/html, */*", True),
        ("text/markdown;q=0.9, text/html;q=0.8", True),
        ("text/html, text/markdown;q=0.9", False),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", False),
        ("text/markdown;q=0", False),
        ("text/markdown;q=many", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_who_prefers_markdown(header: str, prefers: bool) -> None:
    """Only a client that names it. Red when a browser, or curl without a header, gets Markdown."""
    assert prefers_markdown(header) is prefers
