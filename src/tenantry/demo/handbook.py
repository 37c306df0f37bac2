"""The docs that the demo serves, with a playground that calls the demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import BaseRoute

PACKED, CLONE = Path(__file__).parent / "docs", Path(__file__).parents[3] / "docs"
"""Where a wheel has them, and where a clone has them."""


def handbook(url: str) -> Sequence[BaseRoute]:
    """The routes of /docs; none where the docs, or what shows them, are not installed. The relay of the playground
    reaches ``url``, where the demo is served, and nothing else, and serves only who came by the same name."""
    folder = next((place for place in (PACKED, CLONE) if (place / "site.json").is_file()), None)
    try:
        from tenantry_site import site_app, site_routes
        from tenantry_site.relay import Relay
    except ImportError:
        folder = None
    if folder is None:
        return []
    return site_routes("/docs", site_app(folder, relay=Relay([], origins(url), hosts=set(hosts(url)))))


def hosts(url: str) -> list[str]:
    """The name in ``url``, and its other one on this machine; of a demo for everywhere only those on this machine."""
    host = urlsplit(url).hostname or ""
    local = host in {"127.0.0.1", "localhost", "0.0.0.0", "::"}  # noqa: S104  # what a demo may listen on
    return ["127.0.0.1", "localhost"] if local else [f"[{host}]" if ":" in host else host]


def origins(url: str) -> list[str]:
    """The origins of those names."""
    parts = urlsplit(url)
    return [f"{parts.scheme}://{host}:{parts.port or 80}" for host in hosts(url)]
