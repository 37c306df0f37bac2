"""Connecting: from a target to a stream, by way of addresses that were looked at.

A name is resolved once, every address of the answer is judged, and the connection is made to a judged address, never
to the name again: an answer that changes afterwards changes nothing. The certificate is the name's.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import Final

from tenantry_site.relay.networks import METADATA_NAMES, Ip, objection
from tenantry_site.relay.refused import Refused
from tenantry_site.relay.target import Target

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a name, for a port. Raises OSError if there are none."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

ATTEMPT_SECONDS: Final = 3.0
"""How long one address may take while there is another."""


async def resolve(name: str, port: int) -> list[str]:
    """The addresses that the system's resolver gives."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(place[0]) for *_, place in found]


async def addresses_of(
    target: Target, resolve: Resolve, *, private: bool, trust_literal: bool = False, hint: str = ""
) -> list[Ip]:
    """The addresses to connect to, all of them judged. Raises Refused.

    ``private`` allows loopback, private and carriers' addresses. ``trust_literal``: an address that is itself written
    as a number is taken as it is: the operator wrote down just this one. ``hint`` says how to allow private addresses.
    """
    if target.literal is not None:
        if not trust_literal:
            _check_address(target, target.literal, private=private, hint=hint)
        return [target.literal]
    if target.host.rstrip(".") in METADATA_NAMES:
        raise Refused("address_refused", f"{target.host} is the name of a metadata service.")
    addresses = await _look_up(target, resolve)
    for ip in addresses:
        _check_address(target, ip, private=private, hint=hint)
    return addresses


async def _look_up(target: Target, resolve: Resolve) -> list[Ip]:
    try:
        texts = await resolve(target.host, target.port)
        found = [ip_address(text) for text in dict.fromkeys(texts)]
    except (OSError, UnicodeError, ValueError):
        found = []
    if not found:
        raise Refused("name_not_found", f"The name {target.host} could not be resolved.")
    return found


def _check_address(target: Target, ip: Ip, *, private: bool, hint: str) -> None:
    kind = objection(ip, private=private)
    if kind is not None:
        message = f"{target.host} leads to {kind}."
        raise Refused("address_refused", message if private or not hint else f"{message} {hint}")


async def connect(addresses: Sequence[Ip], target: Target, tls: ssl.SSLContext) -> Streams:
    """A stream to the first address that takes a connection. Raises Refused."""
    for ip in addresses[:-1]:
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                return await _connect(ip, target, tls)
        except OSError:  # a timeout is one
            continue
    try:
        return await _connect(addresses[-1], target, tls)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Refused("unreachable", f"No connection to {target.authority}: {reason}.") from None


async def _connect(ip: Ip, target: Target, tls: ssl.SSLContext) -> Streams:
    link = await dial(ip, target.port)
    try:
        if target.scheme == "http":
            return await asyncio.open_connection(sock=link)
        return await asyncio.open_connection(sock=link, ssl=tls, server_hostname=target.host)
    except ssl.SSLCertVerificationError as error:
        link.close()
        message = f"The certificate of {target.authority} was not accepted: {error.verify_message}."
        raise Refused("tls_failed", message) from None
    except (ssl.SSLError, ConnectionError):
        link.close()
        raise Refused("tls_failed", f"{target.authority} made no secure connection.") from None
    except BaseException:  # the time is up
        link.close()
        raise


async def dial(ip: Ip, port: int) -> socket.socket:
    """A connected socket. It is given an address and never a name."""
    link = socket.socket(socket.AF_INET6 if ip.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        link.setblocking(False)
        await asyncio.get_running_loop().sock_connect(link, (str(ip), port))
    except BaseException:
        link.close()
        raise
    return link
