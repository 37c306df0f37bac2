"""Sender: whether a request to the relay comes from a page of its own origin.

A page of another origin can neither set the header of ours nor send ``application/json`` without being asked first, and
the relay never says yes. What a browser says of itself is checked too: two walls are cheap.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from tenantry_site.relay.refused import Refused
from tenantry_site.relay.target import PORTS

HEADER: Final = "x-tenantry-relay"
"""What the playground's script sends, with the value ``1``."""

_OWN_SITES = frozenset({"same-origin", "none"})


def check_sender(request: Request, hosts: Collection[str]) -> None:
    """``hosts`` are the names that the docs are served under; empty: any. Raises Refused."""
    if request.method != "POST":
        raise Refused("method_not_allowed", "The relay takes POST alone.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused("unsupported_media_type", "Send the header Content-Type: application/json.")
    if request.headers.getlist(HEADER) != ["1"]:
        raise Refused("foreign_request", "Send the header X-Tenantry-Relay: 1.")
    if not _OWN_SITES.issuperset(request.headers.getlist("sec-fetch-site")):
        raise Refused("foreign_request", "The request comes from a page of another site.")
    _check_host(request, hosts)


def _check_host(request: Request, hosts: Collection[str]) -> None:
    named = request.headers.getlist("host")
    origins = request.headers.getlist("origin")
    if len(named) != 1 or len(origins) > 1:
        raise Refused("foreign_request", "The request has no Host, or names several.")
    host = named[0].lower()
    if hosts and _bare(host) not in hosts:
        raise Refused("foreign_request", "The docs are not served under the name that the request has as its Host.")
    if origins and not _same(origins[0].lower(), host):
        raise Refused("foreign_request", "The request comes from a page of another origin.")


def _bare(host: str) -> str:
    """A host without its port; the brackets of IPv6 stay."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _same(origin: str, host: str) -> bool:
    """Behind a proxy the scheme is not known here, so name and port are what is compared."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    standard = f":{PORTS.get(parts.scheme, '')}"
    return bool(parts.netloc) and parts.netloc.removesuffix(standard) == host.removesuffix(standard)
