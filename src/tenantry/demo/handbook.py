"""The handbook: Tenantry's own docs, served beside the demo, with a playground that calls the demo itself."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PACKED = Path(__file__).parent / "docs"
"""Where a wheel has them."""

CLONE = Path(__file__).parents[3] / "docs"
"""Where a clone has them."""

_LOOPBACK = frozenset({"127.0.0.1", "localhost"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104  # what a demo may listen on


def handbook(url: str) -> ASGIApp | None:
    """The docs as an app to be mounted; None where they, or what shows them, are not installed.

    ``url`` is where the demo is served. The relay of the playground reaches that and nothing else, and serves only who
    came by the same name.
    """
    folder = next((place for place in (PACKED, CLONE) if (place / "site.json").is_file()), None)
    if folder is None or find_spec("tenantry_site") is None:
        return None
    from tenantry_site import site_app
    from tenantry_site.relay import Relay

    own = origins(url)
    relay = Relay([], own, hosts={_bracketed(urlsplit(origin).hostname or "") for origin in own})
    return site_app(folder, relay=relay)


def origins(url: str) -> list[str]:
    """The demo's origin, and its other name on this machine; of a demo for everywhere only those on this machine."""
    parts = urlsplit(url)
    names = sorted(_LOOPBACK) if parts.hostname in _LOOPBACK | _EVERYWHERE else [_bracketed(parts.hostname or "")]
    return [f"{parts.scheme}://{name}:{parts.port or 80}" for name in names]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
