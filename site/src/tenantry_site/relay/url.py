"""Parses http addresses strictly; every use shares one parse.

The parsed parts are compared with the allowed origins, resolved, connected to, and written into the request. So no
address is checked by one parser and used by another. An address that parsers could read differently is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from tenantry_site.relay.errors import RelayError

MAX_ADDRESS: Final = 8192
"""Maximum number of characters of an address."""

MAX_NAME: Final = 253
"""Maximum number of characters of a host name (RFC 1035, section 2.3.4), without a final dot."""

PORTS: Final = {"http": 80, "https": 443}

_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,31})://"
    r"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]+)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/(?:[A-Za-z0-9\-._~!$&'*+,;=():@/]|%[0-9A-Fa-f]{2})*)?"
    r"(?P<query>\?(?:[A-Za-z0-9\-._~!$&'*+,;=():@/?\[\]]|%[0-9A-Fa-f]{2})*)?"
)
"""An absolute address (RFC 3986) without user information and fragment. Brackets are allowed in a query, where they are
common and harmless."""

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A label at the end of a host name that makes some parsers read the whole name as an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed http address. ``host``: a name in lower case, or an IP address in canonical form. ``literal``: that IP
    address; None for a name. ``path``: with the query."""

    scheme: str
    host: str
    port: int
    path: str
    literal: IPv4Address | IPv6Address | None

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header: the host, with the port unless it is the scheme's default."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port; the scheme's default port is omitted."""
        return f"{self.scheme}://{self.authority}"


def parse_url(address: str) -> Url:
    """Parse an absolute http or https address. Raises RelayError with the code ``bad_address``."""
    if len(address) > MAX_ADDRESS:
        raise RelayError("bad_address", f"The address is longer than {MAX_ADDRESS} characters.")
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise RelayError("bad_address", _url_problem(address))
    scheme = found["scheme"].lower()
    if scheme not in PORTS:
        raise RelayError("bad_address", "The address's scheme is not http or https.")
    host, literal = _host(found["host"].lower())
    port = int(found["port"] or PORTS[scheme])
    if port > 65535:
        raise RelayError("bad_address", "The port is greater than 65535.")
    return Url(scheme, host, port, (found["path"] or "/") + (found["query"] or ""), literal)


def origin_of(address: str) -> str:
    """The origin of an address, in the canonical form in which origins are compared: ``https://api.example.com``.

    Raises ValueError for an address that ``parse_url`` refuses.
    """
    try:
        return parse_url(address).origin
    except RelayError as error:
        raise ValueError(f"{address!r}: {error.message}") from None


def _host(text: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    if text.startswith("["):
        literal: IPv4Address | IPv6Address | None = _literal(text[1:-1])
    elif _NUMERIC.fullmatch(text.rpartition(".")[2]):
        literal = _literal(text)
    else:
        if len(text) > MAX_NAME or not all(_LABEL.fullmatch(label) for label in text.split(".")):
            raise RelayError(
                "bad_address", "The host name is invalid: its labels must consist of letters, digits and hyphens."
            )
        return text, None
    return str(literal), literal


def _literal(text: str) -> IPv4Address | IPv6Address:
    try:
        return ip_address(text)
    except ValueError:
        message = "The host looks like an IP address, but is not in the usual form, such as 192.0.2.1."
        raise RelayError("bad_address", message) from None


def _url_problem(address: str) -> str:
    """Why an address is invalid. The message does not repeat the address, which may contain a password."""
    for character, what in _PROBLEMS:
        if character in address:
            return f"The address contains {what}."
    if not address.isascii():
        return "The address contains a character outside ASCII: write the name as xn--… and the rest as %XX."
    if not address.isprintable() or " " in address:
        return "The address contains a space or a control character: write it as %XX."
    return "This is not an absolute http address, such as https://api.example.com/path?name=value."


_PROBLEMS = (("\\", "a backslash"), ("#", "a fragment"), ("@", "user information, or an @ outside the path"))
