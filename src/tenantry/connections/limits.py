"""ConnectionLimits: what a client may take of a server before it has said anything worth an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network

MOST_CONNECTIONS: Final = 4_096
"""Unless more are asked for: each takes some tens of KiB, whatever the system permits."""

RESERVED_FILES: Final = 40
"""File descriptors that are left to the store, the log, the listener, and connections that are accepted to be refused.
A server without any connection has some 15 open."""

_IPV6_SITE: Final = 64
"""Bits of an IPv6 address that name a site: whoever has one address has all that share them (RFC 6177)."""


def most_connections() -> int:
    """How many connections this process may hold: its limit of open files (RLIMIT_NOFILE) without those reserved."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(files - RESERVED_FILES, MOST_CONNECTIONS))


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """``header_seconds``: how long a client may take for the head of a request. ``min_rate``: bytes a second that it
    must send of a body that is waited for, and read of an answer, averaged over ``grace_seconds``; 0 asks for none.

    ``max_connections`` in all; ``max_per_address`` of one client address, by default half of them, 0 for no such limit.
    Loopback, Unix sockets and ``proxies``, which speak for many, have none.
    """

    header_seconds: float = 10.0
    min_rate: int = 500
    grace_seconds: float = 5.0
    max_connections: int = field(default_factory=most_connections)
    max_per_address: int | None = None
    proxies: tuple[Network, ...] = ()

    @property
    def per_address(self) -> int:
        """The limit that holds for one address; 0 for none."""
        return (self.max_connections + 1) // 2 if self.max_per_address is None else self.max_per_address

    def limited_address(self, peer: object) -> str | None:
        """The client that a connection counts for; None where no limit by address holds. ``peer`` is the
        ``peername`` of its socket: (host, port, …) for IP."""
        if not self.per_address or not isinstance(peer, tuple) or not peer:
            return None
        try:
            address = ip_address(str(peer[0]).partition("%")[0])
        except ValueError:
            return None
        if isinstance(address, IPv6Address):
            address = address.ipv4_mapped or address
        if address.is_loopback or any(address in network for network in self.proxies):
            return None
        if isinstance(address, IPv6Address):
            return str(ip_network((address, _IPV6_SITE), strict=False))
        return str(address)
