"""Folders of sites, in memory."""

from __future__ import annotations

import json
from typing import Any

DOCUMENT = json.dumps(
    {
        "openapi": "3.1.0",
        "info": {"title": "API", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": {
            "/users": {
                "get": {"summary": "List users", "tags": ["Users"], "responses": {"200": {"description": "Fine."}}},
                "post": {"summary": "Add a user", "tags": ["Users"], "responses": {"201": {"description": "Made."}}},
            }
        },
    }
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'


def folder(config: dict[str, Any] | None = None, **more: str | bytes) -> dict[str, str | bytes]:
    """A site of a few pages. ``more`` are further files."""
    base = {
        "name": "Harbour",
        "colors": {"primary": "#0d9373"},
        "favicon": "/logo.svg",
        "navigation": [
            {"group": "Start", "pages": ["index", "guides/start"]},
            {"group": "Guides", "pages": ["guides/links", {"group": "Deep", "pages": ["guides/deep/end"]}]},
        ],
    }
    files: dict[str, str | bytes] = {
        "site.json": json.dumps(base | (config or {})),
        "index.md": (
            "---\ntitle: Welcome\ndescription: All about ships.\n---\nHello, [start](guides/start#first-steps).\n"
        ),
        "guides/start.mdx": (
            "---\ntitle: Start here\n---\n## First steps\n\nLift the anchor.\n\n```python\nlift(1)\n```\n"
        ),
        "guides/links.md": "# Links\n\n[Home](/), [up](../index), [here](./start.mdx), [pic](/logo.svg).\n",
        "guides/deep/end.md": "---\ntitle: The end\n---\nAnchors are heavy. [Back](/guides/links)\n",
        "hidden.md": "# Not listed\n\nCargo.\n",
        "logo.svg": SVG,
        "README.md": "# Not a page\n",
        "_snippets/shared.mdx": "Shared words.\n",
    }
    return files | more


def without(files: dict[str, str | bytes], *paths: str) -> dict[str, str | bytes]:
    return {path: content for path, content in files.items() if path not in paths}
