"""What is said to caches about a response that depended on a token (RFC 9111).

A response to a known group is for that group alone. If the app says ``private`` or ``no-store`` itself, that stays.
If it says nothing, ``private`` is added. If it says anything else (``public``, ``max-age=60``, ``no-cache``), the
directives that speak to shared caches are dropped and ``private`` is put in front: the browser still keeps the page for
as long as the app wanted, and no proxy can hand one group's page to another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

Message = dict[str, Any]  # as ASGI has it
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

SHARED_ONLY: Final = frozenset({
    b"cdn-cache-control", b"cloudflare-cdn-cache-control", b"netlify-cdn-cache-control", b"surrogate-control",
    b"vercel-cdn-cache-control", b"x-accel-expires",
})  # fmt: skip
"""Headers by which an app tells a shared cache to store whatever Cache-Control says (RFC 9213): never kept."""

_SHARED_DIRECTIVES: Final = frozenset(
    {"public", "s-maxage", "proxy-revalidate", "private"}
)  # private="field": too weak


def stamp(vary: str, *, private: bool) -> Callable[[Send, Message], Awaitable[None]]:
    """A send that states Vary, and Cache-Control: private if asked: bind it with ``types.MethodType(stamp, send)``."""
    added: list[Header] = []
    if vary:
        added.append((b"vary", vary.encode("latin-1")))
    if private:
        added.append((b"cache-control", b"private"))
    watched = _spellings({b"vary", b"cache-control", *SHARED_ONLY} if private else {b"vary"})

    def send_stamped(send: Send, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            # Copies: an app may send one and the same message, or list of headers, for every request.
            message = message.copy()
            message["headers"] = headers = [*message.get("headers", ())]
            for pair in headers:
                if pair[0] in watched:
                    message["headers"] = merged(headers, vary, private=private)
                    return send(message)
            headers += added
        return send(message)

    return send_stamped


def merged(headers: list[Header], vary: str, *, private: bool) -> list[Header]:
    """The headers with ours merged into the app's own."""
    own_vary = _values(headers, b"vary")
    own_control = _values(headers, b"cache-control")
    replaced = {b"vary", *({b"cache-control", *SHARED_ONLY} if private else ())}
    kept = [pair for pair in headers if pair[0].lower() not in replaced]
    varied = _join_vary(own_vary, vary)
    if varied:
        kept.append((b"vary", varied.encode("latin-1")))
    if private:
        kept.append((b"cache-control", _make_private(own_control).encode("latin-1")))
    return kept


def _spellings(names: set[bytes]) -> frozenset[bytes]:
    """ASGI wants lower case; servers let the usual other spellings pass, so that they are met in the wild."""
    return frozenset(spelling for name in names for spelling in (name, name.title(), name.upper()))


def _values(headers: list[Header], name: bytes) -> list[str]:
    """The members of a list-valued header, over all its lines. A quoted comma splits a member; none of ours has one."""
    lines = (value.decode("latin-1") for key, value in headers if key.lower() == name)
    return [member.strip() for line in lines for member in line.split(",") if member.strip()]


def _join_vary(own: list[str], ours: str) -> str:
    if "*" in own:
        return "*"
    known = {name.lower() for name in own}
    return ", ".join([*own, *(name for name in ours.split(", ") if name and name.lower() not in known)])


def _make_private(own: list[str]) -> str:
    names = {member.lower() for member in own}
    if names & {"private", "no-store"}:
        return ", ".join(own)
    rest = [member for member in own if member.partition("=")[0].strip().lower() not in _SHARED_DIRECTIVES]
    return ", ".join(["private", *rest])
