"""Which addresses are public: a table, because this is the check behind the list of origins."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from tenantry_site.relay import Relay
from tenantry_site.relay.dial import address_problem
from tests.relay.stage import World, post

PUBLIC = [
    "8.8.8.8",
    "93.184.215.14",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "2001:4860:4860::8888",
]

OPENABLE = [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "10.255.255.255",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "fd12::1",
    "fc00::1",
]

CLOSED = {
    "the address of a metadata service": [
        "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16",
        "fd00:ec2::254",
    ],
    "a link-local address": ["169.254.0.1", "fe80::1", "febf::1"],
    "the unspecified address": ["0.0.0.0", "0.255.255.255", "::"],
    "a multicast address": ["224.0.0.1", "239.255.255.255", "ff02::1"],
    "a documentation address": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "an IPv4 address within an IPv6 address": [
        "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "::8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "2002:808:808::1",
        "2001:0:4136:e378::1", "2606:4700::5efe:8.8.8.8", "2606:4700::200:5efe:8.8.8.8", "192.88.99.1",
    ],
    "a reserved address": [
        "192.0.0.1", "198.18.0.1", "198.19.255.255", "240.0.0.1", "255.255.255.255", "2001:10::1", "2001:20::1",
        "100::1",
        "4000::1", "5f00::1", "fec0::1", "2606:4700::1%1", "2620:4f:8000::1",
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses(text: str) -> None:
    assert address_problem(ip_address(text)) is None


@pytest.mark.parametrize("text", OPENABLE)
def test_addresses_that_an_operator_can_open(text: str) -> None:
    """Red when a private network is missing from the table."""
    assert address_problem(ip_address(text)) is not None
    assert address_problem(ip_address(text), private=True) is None


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in CLOSED.items() for text in texts])
def test_addresses_that_nobody_can_open(kind: str, text: str) -> None:
    """Red when a row of the table is missing."""
    assert address_problem(ip_address(text)) == address_problem(ip_address(text), private=True) == kind


async def test_an_origin_that_is_an_address_is_checked_too(stage: World) -> None:
    """Listed as public, it is no way in. Red when an address that needs no resolving is not checked."""
    for origin in ("http://127.0.0.1:{canary}", "http://[::1]:{canary6}", "http://169.254.169.254"):
        answer = await post(Relay([stage.fill(origin)]), {"url": stage.fill(origin)})
        assert answer.code == "address_refused"
    assert stage.dials == []
