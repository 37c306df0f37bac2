"""Masks the token in a request's address and restores it in the app's redirects."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, quote, unquote, unquote_to_bytes, urlsplit, urlunsplit

from tenantry.groups import DASHBOARD
from tenantry.middleware.cache_headers import Message, Send
from tenantry.tokens import is_like_a_pass
from tenantry.tokens.minting import mint_pass

MASK: Final = "redacted"
"""The text that replaces a token in an address. The path keeps its number of segments, so that the app's routes
match."""

ADDRESS_KEY: Final = "tenantry.address"
"""ASGI scope key of the request's OriginalAddress. The middleware removes it before the app runs."""

IN_QUERY_KEY: Final = "tenantry.in_query"
"""ASGI scope key. The value is True if the token came in a query parameter. If so, the app may set a cookie whose name
starts with COOKIE_PREFIX and whose value is MASK. The middleware replaces MASK with a pass."""

COOKIE_PREFIX: Final = "__Host-tenantry-"
"""The beginning of the name of a cookie with a pass; hexadecimal digits follow. The pass is made from the token in a
page's address. Browsers accept ``__Host-`` cookies only over TLS or from localhost."""

COOKIE_SECONDS: Final = 3_600
"""Lifetime of a cookie with a pass, in seconds. A viewer can reload the page for this long."""

ADDRESS_HEADERS: Final = frozenset({
    b"hx-current-url", b"next-url", b"referer", b"x-auth-request-redirect", b"x-envoy-original-path",
    b"x-forwarded-path", b"x-forwarded-prefix", b"x-forwarded-uri", b"x-forwarded-url", b"x-ms-original-url",
    b"x-original-path", b"x-original-uri", b"x-original-url", b"x-replaced-path", b"x-request-uri", b"x-rewrite-url",
    b"x-up-location", b"x-waws-unencoded-url",
})  # fmt: skip
"""Request headers that contain an address, perhaps with a token."""

_ESCAPED: Final = rb"%(?:2[DdEe]|3\d|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff])"  # a percent-encoded character of a token
_CHARACTER: Final = rb"(?:[A-Za-z0-9_.-]|" + _ESCAPED + rb")"
_TAG: Final = rb"(?:[ct]|%63|%74)(?:_|%5[Ff])"
_SHAPE: Final = (  # a token, which has a fixed length, or a pass
    rb"(?:u|%75)(?:g|%67)(?:(?:t|%74)" + _TAG + _CHARACTER + rb"{92}|(?:v|%76)" + _TAG + _CHARACTER + rb"{92,})"
)
_TOKEN: Final = re.compile(_SHAPE)
_MASKED_COOKIE: Final = re.compile(rf"({COOKIE_PREFIX}[0-9a-f]+=){MASK}(?=;|\Z)".encode())
_BYTE: Final = re.compile(rb"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_TRAILING_SEPARATOR: Final = re.compile(rb"[?&](?=#|$)")

Scope = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class OriginalAddress:
    """The path and token of a request before masking. ``repr`` shows neither."""

    token: bytes
    path: str
    query_name: str | None
    """If the app redirects, the token is put back into the address in this query parameter. None: into the path."""


def may_hold_token(value: bytes) -> bool:
    """A fast test: if it returns False, the address contains no token."""
    return (
        value.find(b"ugt") >= 0
        or value.find(b"ugv") >= 0
        # The letters of a prefix may be percent-encoded.
        or (value.find(b"%") >= 0 and any(value.find(letter) >= 0 for letter in (b"%75", b"%67", b"%74", b"%76")))
    )


def address_cleaner(query_names: Iterable[str]) -> Callable[[bytes], bytes]:
    """Return a function that cleans an address: it deletes query parameters with these names if they contain a token,
    and masks all other tokens."""
    names = b"|".join(re.escape(quote(name).encode()) for name in query_names)
    parameter = re.compile(rb"(?<=[?&])(?:" + names + rb")=" + _SHAPE + rb"(?:&|(?=#|$))") if names else None

    def clean(value: bytes) -> bytes:
        if not may_hold_token(value):
            return value
        if parameter is not None:
            value, cut = parameter.subn(b"", value)
            if cut:
                value = _TRAILING_SEPARATOR.sub(b"", value)
        return _TOKEN.sub(MASK.encode(), value)

    return clean


def mask_in_query(query: bytes, token: bytes) -> bytes:
    # A malformed token may be any word of the query, so the query stays as it is.
    if not may_hold_token(query) or not _TOKEN.fullmatch(token):
        return query
    mask = MASK.encode()
    query = query.replace(token, mask)
    if b"%" not in query or token not in (decoded := unquote_to_bytes(query)):
        return query
    written = _BYTE.findall(query)  # how each byte of ``decoded`` is written in the query
    at = len(decoded)
    while (at := decoded.rfind(token, 0, at)) >= 0:  # from the end, so that earlier positions stay valid
        written[at : at + len(token)] = [mask]
    return b"".join(written)


# --- redirects --------------------------------------------------------------------------------------------------------


def restore_redirects(address: OriginalAddress, scope: Scope, send: Send) -> Send:
    """Wrap ``send`` so that it restores the token in redirects, and puts a pass into cookies whose name starts with
    COOKIE_PREFIX."""

    def restored(name: bytes, value: bytes) -> bytes:
        name = name.lower()
        if name == b"location":
            return restore_location(value, address, scope)
        if name == b"set-cookie" and address.query_name is not None:
            match = _MASKED_COOKIE.match(value)
            return value if match is None else match[1] + pass_for_cookie(address.token) + value[match.end() :]
        return value

    def send_restored(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            headers = [(name, restored(name, value)) for name, value in message.get("headers", ())]
            message = {**message, "headers": headers}
        return send(message)

    return send_restored


def pass_for_cookie(raw: bytes) -> bytes:
    """If ``raw`` is a token, make a pass for a cookie from it. The pass opens all dashboards. If ``raw`` is a pass,
    return it unchanged."""
    if is_like_a_pass(raw):
        return raw
    # A browser must not keep the token itself.
    return mint_pass(raw.decode("ascii"), seconds=COOKIE_SECONDS, scope=DASHBOARD).encode("ascii")


def restore_location(location: bytes, address: OriginalAddress, scope: Scope) -> bytes:
    """If a redirect stays on this host, put the token back into its Location. A token from the query is put back only
    if the redirect merely adds or removes trailing slashes."""
    try:
        parts = urlsplit(location.decode("latin-1"))
    except ValueError:  # not a URL
        return location
    if not parts.path.startswith("/") or not _is_same_host(parts, scope):
        return location
    path = _restored_path(parts.path, address, scope["path"])
    query = _restored_query(parts, address, scope["path"])
    if (path, query) == (parts.path, parts.query):
        return location
    return urlunsplit(parts._replace(path=path, query=query)).encode("latin-1")


def _is_same_host(parts: SplitResult, scope: Scope) -> bool:
    hosts = {value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"}
    if not parts.netloc:
        return not parts.scheme
    return parts.scheme in {"", "http", "https"} and {parts.netloc.lower()} == hosts


def _restored_path(path: str, address: OriginalAddress, shown: str) -> str:
    segments, before, masked = path.split("/"), address.path.split("/"), shown.split("/")
    for index, (original, masked_one) in enumerate(zip(before, masked, strict=False)):
        decoded = [unquote(segment) for segment in segments[: index + 1]]
        if original != masked_one and decoded == masked[: index + 1]:
            segments[index] = quote(original, safe="")
            masked[index] = original
    return "/".join(segments)


def _restored_query(parts: SplitResult, address: OriginalAddress, shown: str) -> str:
    path = unquote(parts.path)
    if address.query_name is None or path == shown or path.rstrip("/") != shown.rstrip("/"):
        return parts.query
    parameter = f"{quote(address.query_name)}={address.token.decode('latin-1')}"
    return f"{parts.query}&{parameter}" if parts.query else parameter
