"""Writes the Content-Security-Policy of a site."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.options import SiteOptions

FACTS = "https://api.github.com"
"""Origin from which browsers request a repository's star count, if ``SiteOptions.repository_facts`` is set."""


def csp(options: SiteOptions, *, connect: Iterable[str] = (), header: bool = False) -> str:
    """The Content-Security-Policy: scripts, styles and images only from the site, and no inline code.

    ``connect``: further origins that scripts may request. ``header``: add ``frame-ancestors``, which works in a
    response header but not in a ``meta`` element.
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
    """The origins of ``api.baseUrl``, to which the playground sends requests if there is no relay."""
    return tuple(filter(None, map(origin, config.api.base_url)))


def origin(url: str) -> str:
    """The origin of an http address: ``https://api.example.com:8443``; empty for any other address.

    A host with characters other than letters, digits, ``-`` and ``.`` gives an empty string too: a space or semicolon
    could add rules to the policy.
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
