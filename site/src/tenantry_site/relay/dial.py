"""Connects to the host of a URL, after checking its IP addresses.

A name is resolved once, all its addresses are checked, and the connection is made to a checked address. So a DNS answer
that changes later has no effect (DNS rebinding). The TLS certificate must still be valid for the name.

The address tables are the IANA special-purpose registries (RFC 6890 and its successors), the addresses of cloud
metadata services, and all forms of IPv6 addresses that contain an IPv4 address.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from tenantry_site.relay.errors import RelayError
from tenantry_site.relay.url import Url

Ip = IPv4Address | IPv6Address

_METADATA: Final = {
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
}  # fmt: skip
"""Addresses of cloud metadata services, which give out credentials. One of them (168.63.129.16) is a public address."""

METADATA_NAMES: Final = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
"""Host names of cloud metadata services."""

_OPENABLE: Final = {
    "a loopback address": ("127.0.0.0/8", "::1/128"),
    "a private address": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "a carrier-grade NAT address": ("100.64.0.0/10",),
}

_CLOSED: Final = {
    "a link-local address": ("169.254.0.0/16", "fe80::/10"),
    "the unspecified address": ("0.0.0.0/8", "::/128"),
    "a multicast address": ("224.0.0.0/4", "ff00::/8"),
    "a documentation address": (
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20",
    ),
    "an IPv4 address within an IPv6 address": (
        "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
        "192.88.99.0/24",
    ),
    "a reserved address": (
        "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "2001::/23", "2620:4f:8000::/48",
    ),
}  # fmt: skip

_GLOBAL_V6: Final = ip_network("2000::/3")
"""The only IPv6 range that is allocated for the public internet."""

_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})
"""Values of the upper half of an interface identifier that mark the lower half as an IPv4 address (RFC 5214, section
6.1)."""

_Table = tuple[tuple[str, IPv4Network | IPv6Network], ...]


def _table(kinds: dict[str, tuple[str, ...]]) -> _Table:
    return tuple((kind, ip_network(network)) for kind, networks in kinds.items() for network in networks)


_OPENABLE_TABLE: Final = _table(_OPENABLE)
_CLOSED_TABLE: Final = _table(_CLOSED)


def address_problem(ip: Ip, *, private: bool = False) -> str | None:
    """The kind of a forbidden address (``a loopback address``), or None if connecting to it is allowed.

    ``private``: allow loopback, private and carrier-grade NAT addresses too; metadata services stay forbidden.
    """
    if str(ip) in _METADATA:
        return "the address of a metadata service"
    kind = _find(ip, _OPENABLE_TABLE)
    if kind is not None:
        return None if private else kind
    kind = _find(ip, _CLOSED_TABLE)
    if kind is not None or not isinstance(ip, IPv6Address):
        return kind
    if ip.scope_id is not None or ip not in _GLOBAL_V6:
        return "a reserved address"
    return "an IPv4 address within an IPv6 address" if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP else None


def _find(ip: Ip, table: _Table) -> str | None:
    return next((kind for kind, network in table if ip.version == network.version and ip in network), None)


Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host name, for a port. Raises OSError if it has no address."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

ATTEMPT_SECONDS: Final = 3.0
"""After this many seconds, a connection attempt is given up if there is another address to try."""


async def resolve(name: str, port: int) -> list[str]:
    """The IP addresses of a host name, from the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(address[0]) for *_, address in found]


async def checked_addresses(
    url: Url, resolve: Resolve, *, private: bool, trust_literal: bool = False, hint: str = ""
) -> list[Ip]:
    """The IP addresses of the URL's host. Raises RelayError if the host has no address, or a forbidden one.

    ``private``: allow loopback, private and carrier-grade NAT addresses. ``trust_literal``: do not check an IP address
    in the URL itself, because the operator has allowed exactly this address. ``hint``: how to allow the address; added
    to the error about a forbidden address, unless ``private``.
    """
    if url.literal is not None:
        if not trust_literal:
            _check_address(url, url.literal, private=private, hint=hint)
        return [url.literal]
    if url.host.rstrip(".") in METADATA_NAMES:
        raise RelayError("address_refused", f"{url.host} is the name of a metadata service.")
    try:
        texts = await resolve(url.host, url.port)
        addresses = [ip_address(text) for text in dict.fromkeys(texts)]
    except (OSError, UnicodeError, ValueError):
        addresses = []
    if not addresses:
        raise RelayError("name_not_found", f"The name {url.host} could not be resolved.")
    for ip in addresses:
        _check_address(url, ip, private=private, hint=hint)
    return addresses


def _check_address(url: Url, ip: Ip, *, private: bool, hint: str) -> None:
    kind = address_problem(ip, private=private)
    if kind is not None:
        message = f"{url.host} resolves to {kind}, which is not allowed."
        raise RelayError("address_refused", message if private or not hint else f"{message} {hint}")


@lru_cache(maxsize=1)
def _system_trust() -> ssl.SSLContext:
    """The TLS settings of the system. Reading the system's certificates is slow, so this is done at the first TLS
    connection."""
    return ssl.create_default_context()


async def connect(addresses: Sequence[Ip], url: Url, tls: ssl.SSLContext | None = None) -> Streams:
    """Connect to the first address that accepts the connection, with TLS for https. ``tls``: the certificates to trust;
    None: the system's certificates. Raises RelayError if connecting fails."""
    for ip in addresses[:-1]:
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                return await _connect(ip, url, tls)
        except OSError:  # includes timeouts
            continue
    try:
        return await _connect(addresses[-1], url, tls)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RelayError("unreachable", f"No connection to {url.authority}: {reason}.") from None


async def _connect(ip: Ip, url: Url, tls: ssl.SSLContext | None) -> Streams:
    sock = await open_socket(ip, url.port)
    try:
        if url.scheme == "http":
            return await asyncio.open_connection(sock=sock)
        return await asyncio.open_connection(sock=sock, ssl=tls or _system_trust(), server_hostname=url.host)
    except ssl.SSLCertVerificationError as error:
        sock.close()
        message = f"The certificate of {url.authority} was not accepted: {error.verify_message}."
        raise RelayError("tls_failed", message) from None
    except (ssl.SSLError, ConnectionError):
        sock.close()
        raise RelayError("tls_failed", f"{url.authority} did not complete the TLS handshake.") from None
    except BaseException:  # a timeout cancels this coroutine
        sock.close()
        raise


async def open_socket(ip: Ip, port: int) -> socket.socket:
    """A non-blocking socket that is connected to an IP address. Raises OSError."""
    sock = socket.socket(socket.AF_INET6 if ip.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (str(ip), port))
    except BaseException:
        sock.close()
        raise
    return sock
