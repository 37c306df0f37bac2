"""What a page of a live site carries beside its own: a script that waits for its change, and where that asks."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

ROUTE = "_reload"
"""The path of the stream, from the site's root."""

FILES = {
    "_reload.css": ("tenantry_site", "reload.css"),
    "_reload.js": ("tenantry_site", "reload.js"),
    "_tokens.css": ("tenantry", "tokens.css"),
}
"""The paths of our static files, from the site's root, and where they are: a package, and a name in its ``static``."""


def script_tag(up: str, page: str, version: str) -> str:
    """``up`` leads from the page to the site's root (``../``); ``page`` names it to the stream, ``version`` is what was
    sent. No script stands within the page: its policy forbids that."""
    return (
        f'<link rel="stylesheet" href="{escape(up)}_reload.css">'
        f'<script defer src="{escape(up)}_reload.js" data-stream="{escape(up)}{ROUTE}" data-page="{escape(page)}"'
        f' data-version="{escape(version)}"></script>'
    )


@cache
def static_file(path: str) -> bytes:
    """One of ``FILES``."""
    package, name = FILES[path]
    return (files(package) / "static" / name).read_bytes()
