"""Cache headers: Vary, Cache-Control and Referrer-Policy of a response that depended on a token (RFC 9111).

A response to a known group is for that group alone. If the app says ``private`` or ``no-store`` itself, that stays.
If it says nothing, ``private`` is added. If it says anything else (``public``, ``max-age=60``, ``no-cache``), the
directives for shared caches are dropped and ``private`` is put in front: the browser still caches the page for as long
as the app wanted, and no proxy can serve one group's page to another.

A page that was opened with the token in its address (query or path) would name that address as the Referer of whatever
it loads from the same site. ``Referrer-Policy: strict-origin`` keeps the site and drops the rest, unless the app has a
policy of its own. Not ``no-referrer``: the forms of the page would then be posted with ``Origin: null``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]  # as ASGI has it
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Header = tuple[bytes, bytes]

LONG_KEY: Final = "tenantry.long_response"
"""The scope key of the LongResponse of a request."""


Exchange = tuple[Send, Receive, bytes, MutableMapping[str, Any]]
"""One request of a group: what the server gave to send and receive with, the token, and the scope. A plain tuple: each
request makes one, and few have it read."""

SHARED_ONLY: Final = frozenset({
    b"cdn-cache-control", b"cloudflare-cdn-cache-control", b"netlify-cdn-cache-control", b"surrogate-control",
    b"vercel-cdn-cache-control", b"x-accel-expires",
})  # fmt: skip
"""Headers by which an app makes a shared cache store whatever Cache-Control says (RFC 9213): always removed."""

_REFERRER_POLICY: Final = (b"referrer-policy", b"strict-origin")

_SHARED_DIRECTIVES: Final = frozenset(
    {"public", "s-maxage", "proxy-revalidate", "private"}
)  # private="field": too weak


def set_headers(
    vary: str,
    *,
    private: bool,
    in_address: bool = False,
    send_part: Callable[[Exchange, Message], Awaitable[None]] | None = None,
) -> Callable[[tuple[Any, ...], Message], Awaitable[None]]:
    """A send that sets Vary, and if asked Cache-Control: private, and Referrer-Policy for a token in the address: bind
    it with ``types.MethodType(set_headers(…), (send,))``. With ``send_part`` it is bound to an Exchange, and every part
    of a body that has several goes there."""
    added: list[Header] = []
    merged_names = {b"vary"}
    if vary:
        added.append((b"vary", vary.encode("latin-1")))
    if private:
        added.append((b"cache-control", b"private"))
        merged_names |= {b"cache-control", *SHARED_ONLY}
    if in_address:
        added.append(_REFERRER_POLICY)
        merged_names.add(_REFERRER_POLICY[0])
    # ASGI wants lower case; servers let the usual other spellings pass, so they do occur.
    to_merge = frozenset(spelling for name in merged_names for spelling in (name, name.title(), name.upper()))

    watched = send_part is not None

    def send_with_headers(exchange: tuple[Any, ...], message: Message) -> Awaitable[None]:
        send: Send = exchange[0]
        if message["type"] == "http.response.start":
            # Copies: an app may send one and the same message, or list of headers, for every request.
            message = {**message}
            message["headers"] = headers = [*message.get("headers", ())]
            for pair in headers:
                if pair[0] in to_merge:
                    message["headers"] = _merge(headers, vary, private=private, in_address=in_address)
                    return send(message)
            headers += added
        elif watched and (("more_body" in message and message["more_body"]) or LONG_KEY in exchange[3]):  # noqa: RUF019
            return send_part(exchange, message)  # type: ignore[misc]  # it is given, and bound to an Exchange
        return send(message)

    return send_with_headers


def _merge(headers: list[Header], vary: str, *, private: bool, in_address: bool) -> list[Header]:
    """The headers with ours merged into the app's own."""
    own_vary = _values(headers, b"vary")
    own_control = _values(headers, b"cache-control")
    replaced = {b"vary", *({b"cache-control", *SHARED_ONLY} if private else ())}
    result = [pair for pair in headers if pair[0].lower() not in replaced]
    known = {name.lower() for name in own_vary}
    varied = [*own_vary, *(name for name in vary.split(", ") if name and name.lower() not in known)]
    if varied:
        result.append((b"vary", b"*" if "*" in own_vary else ", ".join(varied).encode("latin-1")))
    if private:
        result.append((b"cache-control", _make_private(own_control).encode("latin-1")))
    if in_address and not _values(headers, _REFERRER_POLICY[0]):
        result.append(_REFERRER_POLICY)
    return result


def _values(headers: list[Header], name: bytes) -> list[str]:
    """The members of a list-valued header, over all its lines. A quoted comma splits a member; none of ours has one."""
    lines = (value.decode("latin-1") for key, value in headers if key.lower() == name)
    return [member.strip() for line in lines for member in line.split(",") if member.strip()]


def _make_private(own: list[str]) -> str:
    names = {member.lower() for member in own}
    # must-understand lets a cache store what says no-store, if it knows the status code (RFC 9111 section 5.2.2.3).
    if "private" in names or ("no-store" in names and "must-understand" not in names):
        return ", ".join(own)
    rest = [member for member in own if member.partition("=")[0].strip().lower() not in _SHARED_DIRECTIVES]
    return ", ".join(["private", *rest])
