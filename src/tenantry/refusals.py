"""An error becomes an answer: JSON for programs, a small readable page for people. Pure: no I/O.

The page is complete in itself: no script, no image, no font, one style element that its Content-Security-Policy names
by hash.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from tenantry.errors import TenantryError

Refusal = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers (lower-case names) and body, as ASGI wants them."""

CHALLENGE = b"UserGroup"
"""The authentication scheme of a 401 (RFC 9110 section 11.6.1)."""


def refusal(error: TenantryError, scope: Mapping[str, Any]) -> Refusal:
    """The answer to ``error`` in the form that the request of this ASGI scope prefers (RFC 9110 section 12.5.1).

    A browser gets HTML; a program, or who does not say, gets JSON:
    ``{"success":0,"error":{"code","message","field"?}}``.
    """
    if prefers_html(scope.get("headers", ())):
        body = _page(error).encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", _POLICY)]
    else:
        body = _json(error)
        headers = [(b"content-type", b"application/json; charset=utf-8")]
    headers += [
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),  # the address may hold the token
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", CHALLENGE))
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    return error.status, headers, body


# --- what is preferred ------------------------------------------------------------------------------------------------


def prefers_html(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """True if Accept ranks text/html above application/json. At the same quality the one named more exactly wins."""
    accept = b",".join(value for name, value in headers if name == b"accept").decode("latin-1").lower()
    if "text/" not in accept:
        return False
    ranges = [_media_range(part) for part in accept.split(",")]
    html, plain = _rank(ranges, "text", "html"), _rank(ranges, "application", "json")
    return html[0] > 0 and html > plain


def _media_range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            return kind, _quality(value.strip())
    return kind, 1.0


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0  # a NaN fails both


def _rank(ranges: list[tuple[str, float]], kind: str, subtype: str) -> tuple[float, int]:
    """Quality of a media type and how exactly it was named; the most exact range decides (RFC 9110 section 12.5.1)."""
    for exactness, name in ((3, f"{kind}/{subtype}"), (2, f"{kind}/*"), (1, "*/*")):
        qualities = [quality for range_, quality in ranges if range_ == name]
        if qualities:
            return max(qualities), exactness
    return 0.0, 0


# --- the two forms ----------------------------------------------------------------------------------------------------


def _json(error: TenantryError) -> bytes:
    shown: dict[str, str] = {"code": error.code, "message": error.public_message}
    if error.field is not None:
        shown["field"] = error.field
    return json.dumps({"success": 0, "error": shown}, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )


_WORDS = {
    "missing_token": (
        "Please open this dashboard from your product",
        "The page was opened without the access that your product gives it. Open it there; you may have to sign in.",
    ),
    "invalid_token": (
        "This access is no longer valid",
        "It may have been renewed or withdrawn. Open the dashboard again from your product.",
    ),
    "ambiguous_token": (
        "Two accesses at once",
        "This request came with the access of two different groups. Close other dashboards, then open this one again.",
    ),
    "origin_not_allowed": (
        "This page may not ask here",
        "The request came from a page of another site. Open the dashboard from your product and try again there.",
    ),
    "store_unavailable": (
        "Not available just now",
        "Your access could not be checked at the moment. Nothing is lost; please try again shortly.",
    ),
}
_OTHER_WORDS = ("This page cannot be shown", "The people who run this dashboard can help with the details below.")

_STYLE = """:root{color-scheme:light dark;--page:#ffffff;--line:#e3e6eb;--text:#1b1f27;--quiet:#5b6472}
@media (prefers-color-scheme:dark){:root{--page:#0f1115;--line:#2a2f3a;--text:#e6e9ef;--quiet:#9aa4b2}}
body{margin:0;background:var(--page);color:var(--text)}
body{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:32rem;margin:12vh auto 0;padding:24px}
h1{margin:0 0 12px;font-size:20px;line-height:1.3;font-weight:600}
p{margin:0 0 24px}
dl{margin:0;padding:16px 0 0;border-top:1px solid var(--line);color:var(--quiet);font-size:12px}
dt{float:left;clear:left;margin-right:8px}
dd{margin:0 0 4px;overflow-wrap:anywhere}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:0;white-space:pre-wrap;font:inherit;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"""

# No frame-ancestors: a dashboard lives in its customer's frame, and so must the page that stands in for it. There is
# nothing on it to click.
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
).encode()

_PAGE = """<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{advice}</p>
<dl><dt>Code</dt><dd><code>{code}</code></dd><dt>Detail</dt><dd>{detail}</dd></dl>
</main>
</body>
</html>
"""


def _page(error: TenantryError) -> str:
    title, advice = _WORDS.get(error.code, _OTHER_WORDS)
    detail = escape(error.public_message.encode("utf-8", "replace").decode())
    if "\n" in detail:  # a message with a caret under its line
        detail = f"<pre>{detail}</pre>"
    return _PAGE.format(
        title=escape(title), style=_STYLE, advice=escape(advice), code=escape(error.code), detail=detail
    )
