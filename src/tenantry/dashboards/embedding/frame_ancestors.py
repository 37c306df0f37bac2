from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tenantry.errors import InvalidSettings

SELF: Final = "'self'"
"""The dashboard's own origin."""

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ORIGIN = re.compile(rf"https?://(?:\*\.)?{_LABEL}(?:\.{_LABEL})*(?::\d{{1,5}})?", re.ASCII | re.IGNORECASE)
_DEFAULT_PORTS = {"https": ":443", "http": ":80"}


def check_hosts(origins: Sequence[str], what: str = "frame_ancestors") -> list[str]:
    """Check that each origin is ``'self'``, or a scheme and host with an optional port. ``["'none'"]`` allows no page.
    Raises InvalidSettings with a message that begins with ``what``."""
    if isinstance(origins, str):
        raise InvalidSettings(f"{what} must be a list of origins: write [{origins!r}]")
    listed = list(origins)
    for origin in [] if listed == ["'none'"] else listed:
        if origin != SELF and _ORIGIN.fullmatch(origin) is None:
            raise InvalidSettings(
                f"{what}: {origin!r} is not an origin: write scheme, host and port only, as in "
                "https://app.example.com, https://*.example.com, http://localhost:3000, or 'self' with the quotes"
            )
    return listed


def frame_ancestors_policy(origins: Sequence[str]) -> str:
    return "frame-ancestors " + (" ".join(check_hosts(origins)) or "'none'")


def is_allowed(origin: str, hosts: Iterable[str], own: str) -> bool:
    """Whether ``hosts`` allow a page of ``origin`` to embed a page of ``own``. This follows ``frame-ancestors``, but
    schemes must be equal. ``https://*.example.com`` matches subdomains only."""
    return any(_matches(origin, own if host == SELF else host) for host in hosts)


def _matches(origin: str, host: str) -> bool:
    scheme, _, rest = host.lower().partition("://")
    rest = rest.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    if not rest.startswith("*."):
        return origin == f"{scheme}://{rest}"
    below = origin.removeprefix(f"{scheme}://")
    return below != origin and below.endswith(rest[1:]) and below != rest[1:]
