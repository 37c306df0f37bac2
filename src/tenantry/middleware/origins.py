"""OriginCheck: a request whose token a browser added by itself passes only if a page of the right origin made it.

A cookie is sent along whoever's page makes the request. A page of another site cannot read the answer to a plain
request (no CORS), but it can make one that changes something, and it can open a websocket and read all of it: no
same-origin policy holds there. So where the token came in a cookie alone, or in a custom carrier that a browser may
fill by itself, websockets and methods that are not safe are checked (OWASP ASVS 5.0, 4.4.2; RFC 6455 section 10.2):

- ``Sec-Fetch-Site: same-origin`` passes: no page can set this header (Fetch Metadata).
- An ``Origin`` passes whose host and port are those of ``Host``, or which is one of the allowed origins.
- A request with neither header is not a browser's, or an old one's; it passes.
- Anything else is refused: ``Origin: null`` (a sandboxed frame, a redirect from elsewhere), ``same-site`` (another
  host of the same site), ``none`` without an Origin, a header twice.

Behind a proxy that speaks TLS the app sees http where the browser has https. A Host without a port then stands for
either default port; where the server knows that the scheme is https or wss, for 443 only.

Not to be mixed up with ``frame-ancestors``, which says who may show a page in a frame: a page in a foreign frame still
makes its requests from its own origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import AddressValueError, IPv6Address
from typing import Any, Final

from tenantry.errors import InvalidSettings, OriginNotAllowed

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing (RFC 9110 section 9.2.1). QUERY is safe too (RFC 10008), but a browser names the origin
of each QUERY, so checking it costs no honest page anything."""

_PORTS: Final = {"http": "80", "ws": "80", "https": "443", "wss": "443"}
_SECURE: Final = frozenset({"https", "wss"})
_HOST: Final = r"(?P<host>[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
_ORIGIN_SHAPE: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://{_HOST}")
_HOST_SHAPE: Final = re.compile(_HOST)

Origin = tuple[str, str, str]
"""Scheme, host and port, in lower case; the port is empty where the scheme has no default and none is given."""


class OriginCheck:
    """The check of one middleware. ``allowed``: origins other than that of Host from which it may be called.
    ``advice``: what the error says to do.

    Raises InvalidSettings for what is not an origin as a browser writes it (RFC 6454 section 6.2).
    """

    __slots__ = ("_advice", "_allowed")

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        advice: str = "open the dashboard there, or add the origin to UserGroupMiddleware(allowed_origins=…)",
    ) -> None:
        self._allowed = allowed_origins(allowed)
        self._advice = advice

    def require(self, scope: Mapping[str, Any]) -> None:
        """Raise OriginNotAllowed if this request, whose token a browser added, may come from a foreign page."""
        if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
            return
        sites, origins, hosts = (
            [value.decode("latin-1").strip(" \t") for key, value in scope["headers"] if key == name]
            for name in (b"sec-fetch-site", b"origin", b"host")
        )
        if sites == ["same-origin"] or not (sites or origins):
            return
        origin = parse_origin(origins[0]) if len(origins) == 1 else None
        if origin is not None and (origin in self._allowed or (len(hosts) == 1 and _is_host(origin, hosts[0], scope))):
            return
        shown = ""
        if origin is not None:
            scheme, host, port = origin
            shown = f" from {scheme}://{host}" + ("" if port in {"", _PORTS.get(scheme)} else f":{port}")
        raise OriginNotAllowed(
            f"this request{shown} came with a token that browsers send by themselves, such as a cookie, and not from a "
            f"page of the host that it was sent to: {self._advice}"
        )


def allowed_origins(origins: Iterable[str]) -> frozenset[Origin]:
    """The origins that a host program lists. Raises InvalidSettings, which names the bad one and how to write it."""
    if isinstance(origins, str):
        raise InvalidSettings(f"allowed_origins is a list of origins: write [{origins!r}]")
    found = set()
    for text in origins:
        origin = parse_origin(text)
        if origin is None or origin[0] in {"ws", "wss"}:
            raise InvalidSettings(f"allowed_origins: {text!r} is not an origin: {_advice(text)}")
        found.add(origin)
    return frozenset(found)


def parse_origin(text: object) -> Origin | None:
    """The origin of an Origin header; None for ``null``, a list, a path, a user, or what else is not one origin."""
    match = _ORIGIN_SHAPE.fullmatch(text.lower()) if isinstance(text, str) else None
    if match is None:
        return None
    scheme, host, port = match["scheme"], _host(match["host"]), _port(match["port"])
    return None if host is None or port is None else (scheme, host, port or _PORTS.get(scheme, ""))


def _is_host(origin: Origin, host: str, scope: Mapping[str, Any]) -> bool:
    """Whether a page of this origin made a request to its own host and port."""
    scheme, name, port = origin
    match = _HOST_SHAPE.fullmatch(host.lower())
    if match is None or _host(match["host"]) != name or scheme not in _PORTS:
        return False
    if match["port"]:
        return _port(match["port"]) == port
    return port in ({"443"} if scope.get("scheme") in _SECURE else {"80", "443"}) and port == _PORTS[scheme]


def _host(name: str) -> str | None:
    """The name itself; an IPv6 address in its one canonical spelling; None for what is no such address."""
    if not name.startswith("["):
        return name
    try:
        return f"[{IPv6Address(name[1:-1])}]"
    except AddressValueError:
        return None


def _port(text: str | None) -> str | None:
    """The port without leading zeros, "" if none is given, None if there is no such port."""
    if not text:
        return ""
    return str(int(text)) if int(text) < 65536 else None


def _advice(text: object) -> str:
    """How a bad entry of ``allowed_origins`` is written."""
    written = text.strip().lower() if isinstance(text, str) else ""
    if written == "null":
        return "every sandboxed frame has the origin null; give the page an origin of its own"
    if "*" in written:
        return "write each one out, as in https://app.example.com; there are no wildcards"
    if "@" in written:
        return "an origin has no user: write it as in https://app.example.com"
    if not written.isascii():
        return "write the host as browsers send it, in ASCII (xn--…)"
    scheme = {"ws": "http", "wss": "https"}.get(written.partition("://")[0])
    if scheme is not None:
        written = scheme + "://" + written.partition("://")[2]
    guess = _ORIGIN_SHAPE.match(written if "://" in written else f"https://{written}")
    example = guess.group() if guess is not None else "https://app.example.com"
    return f"write scheme, host and, if it is not the usual one, port, as in {example}"
