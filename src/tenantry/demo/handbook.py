from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import BaseRoute

PACKED, CLONE = Path(__file__).parent / "docs", Path(__file__).parents[3] / "docs"
"""The folder of the docs in an installed wheel, and in a clone of the repository."""


def handbook(url: str) -> Sequence[BaseRoute]:
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
    host = urlsplit(url).hostname or ""
    local = host in {"127.0.0.1", "localhost", "0.0.0.0", "::"}  # noqa: S104  # only compared
    return ["127.0.0.1", "localhost"] if local else [f"[{host}]" if ":" in host else host]


def origins(url: str) -> list[str]:
    parts = urlsplit(url)
    return [f"{parts.scheme}://{host}:{parts.port or 80}" for host in hosts(url)]
