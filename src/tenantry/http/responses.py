"""Error responses, and the request headers that determine their form."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any, Final, Protocol

from tenantry._lazy import lazy_exports
from tenantry.errors import TenantryError

Headers = Iterable[tuple[bytes, bytes]]

ErrorResponse = tuple[int, list[tuple[bytes, bytes]], bytes]
"""An ASGI response: its status, headers (with lower-case names) and body."""

CHALLENGE: Final = b"UserGroup"
"""The authentication scheme that a 401 names (RFC 9110 section 11.6.1)."""

# Does not match tokens, passes and the keys of previews, because the id is logged.
_REQUEST_ID: Final = re.compile(rb"(?!.*ug(?:[ktv][ct]|pv)_)[A-Za-z0-9._-]{1,64}")


def error_response(error: TenantryError, scope: Mapping[str, Any]) -> ErrorResponse:
    """Return the response for an error. The body is HTML if the Accept header prefers it (RFC 9110 section 12.5.1),
    otherwise ``error_document`` as JSON."""
    request_headers = scope.get("headers", ())
    request_id = request_id_of(request_headers)
    if prefers_html(request_headers):
        body = _page(error).encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", _POLICY)]
    else:
        document = error_document(error, request_id)
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = [(b"content-type", b"application/json; charset=utf-8")]
    headers += [
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),  # the address may hold the token
    ]
    if request_id is not None:
        headers.append((b"x-request-id", request_id.encode()))
    if error.status == 401:
        headers.append((b"www-authenticate", CHALLENGE))
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    return error.status, headers, body


def error_document(error: TenantryError, request_id: str | None) -> dict[str, Any]:
    """Return ``{"success":0,"error":{"code","message","field"?},"request_id"?}``."""
    shown = {"code": error.code, "message": error.public_message}
    if error.field is not None:
        shown["field"] = error.field
    document: dict[str, Any] = {"success": 0, "error": shown}
    if request_id is not None:
        document["request_id"] = request_id
    return document


def request_id_of(headers: Headers) -> str | None:
    """Return the X-Request-Id header if it occurs once, has 1 to 64 characters of ``A-Za-z0-9._-``, and contains no
    token."""
    given = [value for name, value in headers if name == b"x-request-id"]
    return given[0].decode("ascii") if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) else None


# --- the page ---------------------------------------------------------------------------------------------------------

_TEXTS = {
    "missing_token": (
        "Please open this dashboard from your product",
        "The page was opened without access from your product. Open it there; you may have to sign in.",
    ),
    "invalid_token": (
        "This access is no longer valid",
        "It may have been renewed or withdrawn. Open the dashboard again from your product.",
    ),
    "user_group_expired": (
        "This access has ended",
        "It was valid until a fixed date. Please ask the people who gave it to you to extend it.",
    ),
    "user_group_suspended": (
        "This access is suspended",
        "Please ask the people who gave it to you.",
    ),
    "pass_expired": (
        "This access has ended",
        "It was valid for a short time. Open the dashboard again from your product.",
    ),
    "pass_revoked": (
        "This access is no longer valid",
        "It was withdrawn. Open the dashboard again from your product.",
    ),
    "out_of_scope": (
        "This page is not part of your access",
        "Please ask the people who gave it to you.",
    ),
    "ambiguous_token": (
        "Two tokens at once",
        "This request has two different tokens. Close other dashboards, then open this one again.",
    ),
    "origin_not_allowed": (
        "This page has no access here",
        "The request came from a page on another site. Open the dashboard from your product and try again.",
    ),
    "store_unavailable": (
        "Not available now",
        "Your access could not be checked. Nothing is lost; please try again shortly.",
    ),
}
_OTHER_TEXT = ("This page cannot be shown", "The people who run this dashboard can help with the details below.")

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

# No frame-ancestors: the error page must appear in the host page's frame in place of the dashboard. Clickjacking is no
# risk, because there is nothing to click.
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
    title, advice = _TEXTS.get(error.code, _OTHER_TEXT)
    detail = escape(error.public_message.encode("utf-8", "replace").decode())
    if "\n" in detail:  # a message with a caret below its line
        detail = f"<pre>{detail}</pre>"
    return _PAGE.format(
        title=escape(title), style=_STYLE, advice=escape(advice), code=escape(error.code), detail=detail
    )


# --- the Accept header ------------------------------------------------------------------------------------------------


def prefers_html(headers: Headers) -> bool:
    accept = _accept(headers)
    if "text/" not in accept:
        return False
    ranges = _media_ranges(accept)
    html, json = _rank(ranges, "text", "html"), _rank(ranges, "application", "json")
    return html[0] > 0 and html > json


def prefers_problem(headers: Headers) -> bool:
    """Whether Accept names application/problem+json (RFC 9457) and ranks it at least as high as application/json."""
    qualities = dict(_media_ranges(_accept(headers)))
    problem = qualities.get("application/problem+json", 0.0)
    return problem > 0 and problem >= qualities.get("application/json", 0.0)


def _accept(headers: Headers) -> str:
    return b",".join(value for name, value in headers if name == b"accept").decode("latin-1").lower()


def _media_ranges(accept: str) -> list[tuple[str, float]]:
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (text.strip() for text in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                try:
                    quality = float(value.strip())
                except ValueError:
                    quality = 0.0
                break
        ranges.append((media_range, quality if 0 <= quality <= 1 else 0.0))  # NaN fails both comparisons
    return ranges


def _rank(ranges: list[tuple[str, float]], kind: str, subtype: str) -> tuple[float, int]:
    for exactness, name in ((3, f"{kind}/{subtype}"), (2, f"{kind}/*"), (1, "*/*")):
        qualities = [quality for media_range, quality in ranges if media_range == name]
        if qualities:
            return max(qualities), exactness
    return 0.0, 0


# --- the address ------------------------------------------------------------------------------------------------------


def has_encoded_slash(scope: Mapping[str, Any]) -> bool:
    """Whether the path contains ``%2F``, which could bypass a rule of a proxy (RFC 3986 section 2.2)."""
    raw = scope.get("raw_path") or b""
    return b"%" in raw and b"%2f" in raw.partition(b"?")[0].lower()


# --- the type of a request --------------------------------------------------------------------------------------------


class Connection(Protocol):
    @property
    def scope(self) -> Mapping[str, Any]: ...


if TYPE_CHECKING:
    HTTPConnection = Connection | Mapping[str, Any]
else:
    # For Depends(user_group), FastAPI fills in both requests and websockets only if the parameter's annotation is
    # Starlette's HTTPConnection. The annotation is a string, which FastAPI evaluates in the function's module. Only
    # then is Starlette imported.
    __getattr__, __dir__ = lazy_exports(__name__, {"starlette.requests": "HTTPConnection"})

__all__ = [
    "CHALLENGE",
    "Connection",
    "ErrorResponse",
    "HTTPConnection",
    "error_document",
    "error_response",
    "has_encoded_slash",
    "prefers_html",
    "prefers_problem",
    "request_id_of",
]
