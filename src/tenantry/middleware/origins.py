from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import AddressValueError, IPv6Address
from typing import Any, Final

from tenantry.errors import InvalidSettings, OriginNotAllowed

# QUERY (RFC 10008) also changes nothing, but browsers send ``Origin`` with it, so it can be checked.
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""HTTP methods that change nothing (RFC 9110 section 9.2.1). OriginCheck accepts all requests with these methods."""

_PORTS: Final = {"http": "80", "ws": "80", "https": "443", "wss": "443"}
_SECURE: Final = frozenset({"https", "wss"})
_HOST: Final = r"(?P<host>[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
_ORIGIN_SHAPE: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://{_HOST}")
_HOST_SHAPE: Final = re.compile(_HOST)

Origin = tuple[str, str, str]
"""Scheme, host and port in lower case; the port is empty if unknown."""


_ADVICE: Final = (
    "write scheme and host, as in https://app.example.com, and the port if it is not the default. Write the host in "
    "ASCII (xn--…), without a wildcard, and no user or path. If this is the origin null of a sandboxed frame, give its "
    "page an origin"
)


class OriginCheck:
    """Refuses requests that a page on another site makes with a viewer's cookie. Raises InvalidSettings for a malformed
    allowed origin (RFC 6454 section 6.2).

    A websocket or a request with an unsafe method is accepted in these cases (docs/decisions/0023-origins.md):
    - ``Sec-Fetch-Site`` is ``same-origin``;
    - ``Origin`` is ``allowed``, or names the same host as ``Host``;
    - neither ``Sec-Fetch-Site`` nor ``Origin`` is sent."""

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
        """Raise OriginNotAllowed for a refused request."""
        # A foreign page can send unsafe requests and open a websocket with the viewer's cookies (OWASP ASVS 5.0, 4.4.2;
        # RFC 6455 section 10.2), but it cannot set Sec-Fetch-Site or Origin. Programs and old browsers send neither
        # header.
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
            f"this request{shown} has its token in a cookie or other data that browsers send automatically, and does "
            f"not come from a page on the same host: {self._advice}"
        )


def allowed_origins(origins: Iterable[str]) -> frozenset[Origin]:
    """Parse the origins. Raises InvalidSettings if one is malformed."""
    if isinstance(origins, str):
        raise InvalidSettings(f"allowed_origins must be a list of origins, not a string: write [{origins!r}]")
    found = set()
    for text in origins:
        origin = parse_origin(text)
        if origin is None or origin[0] in {"ws", "wss"}:
            raise InvalidSettings(f"allowed_origins: {text!r} is not an origin: {_ADVICE}")
        found.add(origin)
    return frozenset(found)


def parse_origin(text: object) -> Origin | None:
    match = _ORIGIN_SHAPE.fullmatch(text.lower()) if isinstance(text, str) else None
    if match is None:
        return None
    scheme, host, port = match["scheme"], _host(match["host"]), _port(match["port"])
    return None if host is None or port is None else (scheme, host, port or _PORTS.get(scheme, ""))


def _is_host(origin: Origin, host: str, scope: Mapping[str, Any]) -> bool:
    scheme, name, port = origin
    match = _HOST_SHAPE.fullmatch(host.lower())
    if match is None or _host(match["host"]) != name or scheme not in _PORTS:
        return False
    if match["port"]:
        return _port(match["port"]) == port
    return port in ({"443"} if scope.get("scheme") in _SECURE else {"80", "443"}) and port == _PORTS[scheme]


def _host(name: str) -> str | None:
    if not name.startswith("["):
        return name
    try:
        return f"[{IPv6Address(name[1:-1])}]"
    except AddressValueError:
        return None


def _port(text: str | None) -> str | None:
    if not text:
        return ""
    return str(int(text)) if int(text) < 65536 else None
