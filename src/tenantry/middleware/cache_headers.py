from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Header = tuple[bytes, bytes]

SHARED_ONLY: Final = frozenset({
    b"cdn-cache-control", b"cloudflare-cdn-cache-control", b"netlify-cdn-cache-control", b"surrogate-control",
    b"vercel-cdn-cache-control", b"x-accel-expires",
})  # fmt: skip
"""Headers that shared caches obey instead of Cache-Control (RFC 9213). They are removed from private responses."""

# With this policy, later requests from the page have only the origin as Referer, without path and query, which contain
# the token. With ``no-referrer``, browsers would send ``Origin: null`` with forms.
_REFERRER_POLICY: Final = (b"referrer-policy", b"strict-origin")

# Directives that are replaced by ``private``. One is ``private="field"``, which lets shared caches store everything but
# the field.
_SHARED_DIRECTIVES: Final = frozenset({"public", "s-maxage", "proxy-revalidate", "private"})


class CacheHeaders:
    """Headers that are added to a response, or merged with the app's own headers:
    - Vary
    - Cache-Control, if ``private``: shared caches must not store the response (RFC 9111)
    - Referrer-Policy, if the token is ``in_address``: browsers must not send the address as ``Referer``"""

    __slots__ = ("_added", "_in_address", "_merged_names", "_private", "_vary")

    def __init__(self, vary: str, *, private: bool, in_address: bool = False) -> None:
        self._vary = vary
        self._private = private
        self._in_address = in_address
        self._added: list[Header] = []
        names = {b"vary"}
        if vary:
            self._added.append((b"vary", vary.encode("latin-1")))
        if private:
            self._added.append((b"cache-control", b"private"))
            names |= {b"cache-control", *SHARED_ONLY}
        if in_address:
            self._added.append(_REFERRER_POLICY)
            names.add(_REFERRER_POLICY[0])
        # ASGI requires lower case, but servers accept the usual spellings.
        self._merged_names = frozenset(spelling for name in names for spelling in (name, name.title(), name.upper()))

    def added_to(self, start: Message) -> Message:
        headers = [*start.get("headers", ())]
        for name, _ in headers:
            if name in self._merged_names:
                merged = _merge(headers, self._vary, private=self._private, in_address=self._in_address)
                return {**start, "headers": merged}
        return {**start, "headers": headers + self._added}

    def wrap(self, send: Send) -> Send:

        def send_with_headers(message: Message) -> Awaitable[None]:
            return send(self.added_to(message) if message["type"] == "http.response.start" else message)

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
    # If must-understand is also set, a cache that knows the status code ignores no-store (RFC 9111 section 5.2.2.3).
    if "private" in names or ("no-store" in names and "must-understand" not in names):
        return ", ".join(own)
    rest = [member for member in own if member.partition("=")[0].strip().lower() not in _SHARED_DIRECTIVES]
    return ", ".join(["private", *rest])
