"""Policy: the only code that writes the Content-Security-Policy of a site."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.options import SiteOptions

FACTS = "https://api.github.com"
"""Where a reader's browser asks for the star count of a repository, if the options let it."""


def csp(options: SiteOptions, *, connect: Iterable[str] = (), header: bool = False) -> str:
    """The policy: the site's scripts, styles and images only, nothing inline.

    ``connect``: further origins that scripts may request. ``header``: include frame rules, which a ``meta`` element
    does not support.
    """
    reach = sorted({origin for origin in connect if origin} | ({FACTS} if options.repository_facts else set()))
    media = " https: http:" if options.external_media else ""
    rules = [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        f"img-src 'self' data:{media}",
        f"media-src 'self'{media}",
        "font-src 'self'",
        f"frame-src 'self'{media}",
        " ".join(["connect-src 'self'", *reach]),
        "form-action 'self'",
        "base-uri 'none'",
    ]
    return "; ".join([*rules, "frame-ancestors 'self'"] if header else rules)


def api_origins(config: SiteConfig) -> tuple[str, ...]:
    """The origins of ``api.baseUrl``, which the playground calls without a relay."""
    return tuple(filter(None, map(origin, config.api.base_url)))


def origin(url: str) -> str:
    """The origin of an address, as ``https://api.example.com:8443``; empty without scheme and host.

    Only host characters are accepted: a space or semicolon would start another rule.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    plain = host.isascii() and all(letter.isalnum() or letter in "-." for letter in host)
    if parts.scheme not in {"http", "https"} or not host or not plain:
        return ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")
