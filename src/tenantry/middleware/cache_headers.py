"""Cache headers of responses that depend on a token (RFC 9111)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]  # as ASGI has it
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Header = tuple[bytes, bytes]

LONG_KEY: Final = "tenantry.long_response"
"""The scope key of a request's LongResponse."""


Exchange = tuple[Send, Receive, bytes, MutableMapping[str, Any]]
"""One request of a group: the server's send and receive, the token, the scope. A tuple, because each request creates
one."""

SHARED_ONLY: Final = frozenset({
    b"cdn-cache-control", b"cloudflare-cdn-cache-control", b"netlify-cdn-cache-control", b"surrogate-control",
    b"vercel-cdn-cache-control", b"x-accel-expires",
})  # fmt: skip
"""Headers that make shared caches ignore Cache-Control (RFC 9213); always removed."""

# Keeps the token out of the Referer; ``no-referrer`` would make forms send ``Origin: null``.
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
    """A send that sets Vary, Cache-Control if ``private``, and Referrer-Policy if ``in_address``. ``send_part`` gets
    each part of a stream. Bind the result with ``types.MethodType`` to ``(send,)``, or to an Exchange if
    ``send_part`` is given."""
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
    # ASGI requires lower case, but servers accept the usual spellings.
    to_merge = frozenset(spelling for name in merged_names for spelling in (name, name.title(), name.upper()))

    watched = send_part is not None

    def send_with_headers(exchange: tuple[Any, ...], message: Message) -> Awaitable[None]:
        send: Send = exchange[0]
        if message["type"] == "http.response.start":
            # Copies: an app may send the same message or headers for every request.
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
    lines = (value.decode("latin-1") for key, value in headers if key.lower() == name)
    return [member.strip() for line in lines for member in line.split(",") if member.strip()]


def _make_private(own: list[str]) -> str:
    names = {member.lower() for member in own}
    # must-understand lets a cache store what says no-store, if it knows the status code (RFC 9111 section 5.2.2.3).
    if "private" in names or ("no-store" in names and "must-understand" not in names):
        return ", ".join(own)
    rest = [member for member in own if member.partition("=")[0].strip().lower() not in _SHARED_DIRECTIVES]
    return ", ".join(["private", *rest])
