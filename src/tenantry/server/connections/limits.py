from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

_log = logging.getLogger("tenantry.connections")

Network: TypeAlias = IPv4Network | IPv6Network

MAX_CONNECTIONS: Final = 4_096
"""The default of ``max_connections`` is at most this number, because each connection takes some tens of KiB."""

RESERVED_FILES: Final = 40
"""File descriptors kept free for the store, the log, the listener and refused connections."""

_IPV6_SITE: Final = 64
"""Prefix length of an IPv6 network that counts as one client, because a client may use all addresses of such a network
(RFC 6177)."""


def most_connections() -> int:
    """Return how many connections RLIMIT_NOFILE allows, but at most MAX_CONNECTIONS."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(files - RESERVED_FILES, MAX_CONNECTIONS))


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of one process.
    - ``header_seconds``: seconds in which a client must send the head of a request.
    - ``min_rate``: minimum bytes per second at which a client must send a body (while the app waits for the body) or
      read a response. The rate is averaged over ``grace_seconds``. 0: no minimum.
    - ``max_per_address``: maximum connections from one client address; 0: no limit. The default is half of
      ``max_connections``, rounded up. Loopback addresses, Unix sockets and ``proxies`` are exempt."""

    header_seconds: float = 10.0
    min_rate: int = 500
    grace_seconds: float = 5.0
    max_connections: int = field(default_factory=most_connections)
    max_per_address: int | None = None
    proxies: tuple[Network, ...] = ()

    @property
    def per_address(self) -> int:
        """``max_per_address`` or its default."""
        return (self.max_connections + 1) // 2 if self.max_per_address is None else self.max_per_address

    def limited_address(self, peer: object) -> str | None:
        """Return the address under which the connections of ``peer`` (a socket's ``peername``) are counted. For IPv6,
        this is the /64 network. Return None if the peer is exempt."""
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


# --- warnings ---------------------------------------------------------------------------------------------------------

WARNING_SECONDS: Final = 30.0
"""Minimum seconds between two warnings about a limit, so that an attack does not fill the disk."""


class Limit(StrEnum):
    """A limit on open connections. The value is the command-line option."""

    ALL = "--max-connections"
    PER_ADDRESS = "--max-connections-per-address"


_ADVICE: Final = {
    Limit.ALL: "; a higher limit on open files (ulimit -n) allows more",
    Limit.PER_ADDRESS: "; if it is a proxy, name it with --proxy-address",
}


class LimitWarnings:
    """Logs which limits closed or refused connections."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unreported: Counter[Limit] = Counter()
        self._warned_at: dict[Limit, float] = {}

    def limit_met(self, limit: Limit, most: int, address: str | None = None) -> None:
        """Count a connection that was closed or refused because ``most`` connections were open. Log a warning at most
        once per WARNING_SECONDS for each kind of limit."""
        self._unreported[limit] += 1
        now = self._clock()
        if now - self._warned_at.get(limit, float("-inf")) < WARNING_SECONDS:
            return
        self._warned_at[limit] = now
        whose = "" if address is None else f" from {address}"
        _log.warning(
            "%d connections%s are open, and %s allows no more: %d were closed or refused since the last warning, "
            "first those that had sent no complete request%s",
            most,
            whose,
            limit,
            self._unreported.pop(limit),
            _ADVICE[limit],
        )
