"""Sitemap: sitemap.xml and robots.txt, for a site that knows the address it is published under."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

SITEMAP = "sitemap.xml"
ROBOTS = "robots.txt"
_MOST = 50_000
"""What one file may name (sitemaps.org)."""


def address(base_url: str, page: str) -> str:
    """The absolute address of a page. The page ``index`` is at the address of its folder."""
    path = "" if page == "index" else page.removesuffix("/index") + ("/" if page.endswith("/index") else ".html")
    return f"{base_url.rstrip('/')}/{quote(path)}"


def sitemap(base_url: str, pages: Iterable[str]) -> bytes:
    """The addresses of the pages, in their order."""
    lines = [f"  <url><loc>{escape(address(base_url, page))}</loc></url>" for page in pages][:_MOST]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            *lines,
            "</urlset>\n",
        ]
    ).encode()


def robots(base_url: str) -> bytes:
    """Everything may be read; here is the list."""
    return f"User-agent: *\nAllow: /\n\nSitemap: {base_url.rstrip('/')}/{SITEMAP}\n".encode()
