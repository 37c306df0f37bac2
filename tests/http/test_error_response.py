"""Refusals: JSON for programs, a page for people, and nothing that a refusal should not say."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from tenantry.errors import (
    AmbiguousToken,
    InvalidBody,
    InvalidPass,
    InvalidToken,
    MissingVariable,
    OutOfScope,
    StoreUnavailable,
    TemplateError,
)
from tenantry.http.responses import error_response, prefers_html
from tests.middleware.asgi import http

BROWSER = b"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

ACCEPT_ROWS = [
    (None, False),
    (b"", False),
    (b"*/*", False),
    (b"application/json", False),
    (BROWSER, True),
    (b"text/html", True),
    (b"TEXT/HTML; Q=0.5", True),
    (b"text/*", True),
    (b"text/html, */*", True),
    (b"text/html, */*; q=0.01", True),
    (b"application/json, text/html;q=0.9", False),
    (b"text/html, application/json", False),
    (b"text/html;q=0.9, application/json;q=0.8", True),
    (b"text/html;q=0, */*", False),
    (b"text/html;q=0", False),
    (b"text/*, application/json", False),
    (b"text/html;q=nan", False),
    (b"text/html;q=7, application/json;q=0.1", False),
    (b"text/html;level=1;q=0.4, application/*;q=0.3", True),
    (b"text/html;q=much", False),
    (b";;,,=", False),
]


@pytest.mark.parametrize(("accept", "html"), ACCEPT_ROWS)
def test_what_is_preferred(accept: bytes | None, html: bool) -> None:
    """HTML only for who ranks it above JSON, or equal and named more exactly; JSON otherwise."""
    assert prefers_html([] if accept is None else [(b"accept", accept)]) is html


def test_two_accept_lines_are_one() -> None:
    """A header may be split over lines (RFC 9110 section 5.3)."""
    assert prefers_html([(b"accept", b"application/json;q=0.1"), (b"accept", b"text/html")])


def test_json() -> None:
    """Code, message and the field that is to blame; never stored; the length is true."""
    status, headers, body = error_response(InvalidBody("too long: ä \ud800", field="/name"), http())
    sent = dict(headers)
    assert status == 422
    assert json.loads(body) == {
        "success": 0,
        "error": {"code": "invalid_body", "message": "too long: ä ?", "field": "/name"},
    }
    assert sent[b"content-length"] == str(len(body)).encode()
    assert (sent[b"cache-control"], sent[b"x-content-type-options"]) == (b"no-store", b"nosniff")
    assert b"www-authenticate" not in sent


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (InvalidToken("no"), 401, (b"www-authenticate", b"UserGroup")),
        (StoreUnavailable("down", retry_after=3), 503, (b"retry-after", b"3")),
        (AmbiguousToken("two"), 400, (b"referrer-policy", b"no-referrer")),
    ],
)
@pytest.mark.parametrize("accept", [b"*/*", BROWSER])
def test_status_and_headers(error: InvalidToken, status: int, header: tuple[bytes, bytes], accept: bytes) -> None:
    """The same in both forms."""
    sent = error_response(error, http(headers=[(b"accept", accept)]))
    assert sent[0] == status
    assert header in sent[1]


IDS = [
    ([b"req-1._A"], True),
    ([b"x" * 64], True),
    ([b"x" * 65], False),
    ([b""], False),
    ([b"a\r\nSet-Cookie: x=1"], False),
    ([b"a\n"], False),
    ([b"a\x00"], False),
    ([b"\x7f"], False),
    ([b'a"b'], False),
    ([b"a'b"], False),
    ([b"a b"], False),
    ([b"<b>"], False),
    ([b"\xe4"], False),
    ([b"ugtc_k1_aaaaaaaa"], False),
    ([b"ugvc_k1_aaaaaaaa"], False),
    ([b"of-ugpv_" + b"a" * 43], False),  # the whole key of a preview
    ([b"one", b"two"], False),
    ([], False),
]


@pytest.mark.parametrize(("given", "returned"), IDS)
@pytest.mark.parametrize("accept", [b"*/*", BROWSER])
def test_request_id(given: list[bytes], returned: bool, accept: bytes) -> None:
    """A plain one comes back as a header, and in JSON; any other nowhere. Red when the pattern lets a line break,
    a quote or a longer one pass."""
    request = [(b"accept", accept), *((b"x-request-id", value) for value in given)]
    _, headers, body = error_response(InvalidToken("no"), http(headers=request))
    assert [value for name, value in headers if name == b"x-request-id"] == (given if returned else [])
    if accept != BROWSER:
        assert json.loads(body).get("request_id") == (given[0].decode() if returned else None)
    elif given and given[0]:
        assert given[0] not in body


def test_page() -> None:
    """Complete in itself, escaped, and its policy lets in exactly its own style."""
    error = MissingVariable("this needs <b>region</b>", names=["region"])
    status, headers, body = error_response(error, http(headers=[(b"accept", BROWSER)]))
    text = body.decode()
    sent = dict(headers)
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert status == 422
    assert sent[b"content-type"] == b"text/html; charset=utf-8"
    assert f"style-src 'sha256-{digest}'" in sent[b"content-security-policy"].decode()
    assert sent[b"content-security-policy"].startswith(b"default-src 'none'; ")
    assert "this needs &lt;b&gt;region&lt;/b&gt;" in text
    assert '<html lang="en" dir="ltr">' in text
    assert '<meta name="viewport"' in text
    assert "prefers-color-scheme:dark" in text
    assert "<script" not in text
    assert "style=" not in text


def test_each_refusal_of_access_has_its_own_page() -> None:
    """Except that of a pass which is made wrongly. Red without a text for the code: somebody who opens an old link
    reads that the page cannot be shown."""
    for kind in {OutOfScope, InvalidToken, *InvalidToken.__subclasses__()} - {InvalidPass}:
        _, _, body = error_response(kind("no"), http(headers=[(b"accept", BROWSER)]))
        assert "This page cannot be shown" not in body.decode(), kind


def test_a_message_of_several_lines_keeps_its_caret_in_place() -> None:
    """A template error shows its line and a caret."""
    _, _, body = error_response(TemplateError("bad\n  {{ x\n     ^"), http(headers=[(b"accept", BROWSER)]))
    assert "<pre>bad\n  {{ x\n     ^</pre>" in body.decode()


def ratio(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_in_both_modes() -> None:
    """Contrast of text and quiet text against the page is at least 4.5:1, light and dark (WCAG 1.4.3)."""
    _, _, body = error_response(InvalidToken("no"), http(headers=[(b"accept", BROWSER)]))
    modes = re.findall(r"--page:(#\w+);--line:#\w+;--text:(#\w+);--quiet:(#\w+)", body.decode())
    assert len(modes) == 2
    for ground, *texts in modes:
        assert all(ratio(ground, text) >= 4.5 for text in texts)
