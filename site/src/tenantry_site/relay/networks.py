"""Networks: which IP addresses are of the public internet, and which of the others an operator may open.

The tables are the IANA special-purpose registries (RFC 6890 and its successors), the addresses under which clouds hand
out credentials, and every form of IPv6 address that carries an IPv4 address within.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

Ip = IPv4Address | IPv6Address

_METADATA: Final = {
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
}  # fmt: skip
"""Where clouds answer with credentials. One of them has an address of the public internet."""

METADATA_NAMES: Final = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
"""The names of the same."""

_OPENABLE: Final = {
    "a loopback address": ("127.0.0.0/8", "::1/128"),
    "a private address": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "an address of a carrier's own network": ("100.64.0.0/10",),
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
"""The only part of IPv6 that is given out for the public internet."""

_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})
"""The middle of an interface identifier that ends with an IPv4 address (RFC 5214 section 6.1)."""

_Table = tuple[tuple[str, IPv4Network | IPv6Network], ...]


def _table(words: dict[str, tuple[str, ...]]) -> _Table:
    return tuple((kind, ip_network(network)) for kind, networks in words.items() for network in networks)


_OPENABLE_TABLE: Final = _table(_OPENABLE)
_CLOSED_TABLE: Final = _table(_CLOSED)


def objection(ip: Ip, *, private: bool = False) -> str | None:
    """What speaks against connecting to an address, in words; None if nothing does.

    ``private`` allows loopback, private and carriers' addresses, and no other: a name that an operator opened leads to
    no metadata service.
    """
    if str(ip) in _METADATA:
        return "the address of a metadata service"
    kind = _find(ip, _OPENABLE_TABLE)
    if kind is not None:
        return None if private else kind
    return _find(ip, _CLOSED_TABLE) or _odd_v6(ip)


def _find(ip: Ip, table: _Table) -> str | None:
    return next((kind for kind, network in table if ip.version == network.version and ip in network), None)


def _odd_v6(ip: Ip) -> str | None:
    if not isinstance(ip, IPv6Address):
        return None
    if ip.scope_id is not None or ip not in _GLOBAL_V6:
        return "a reserved address"
    return "an IPv4 address within an IPv6 address" if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP else None
