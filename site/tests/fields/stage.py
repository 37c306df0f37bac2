"""A small site that a test gives its fields, built into a folder and opened from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from engines.chromium import OpenPage, Watched
from tenantry_site import SiteOptions, build

NAVIGATION = [
    {"group": "Begin", "pages": ["index", "guides/start", "guides/next"]},
    {"group": "Calls", "pages": ["api/list", "api/make", "api/plain"]},
]

PAGES = {
    "index": "# Home\n\n## First part\n\nSome words. [Start](guides/start.md)",
    "guides/start": "---\ntitle: Start here\nsidebarTitle: Start\nicon: rocket\n---\n\nWords.",
    "guides/next": "# Next\n\nWords.",
    "api/list": "---\nopenapi: GET /things\n---\n",
    "api/make": "---\nopenapi: POST /things\n---\n",
    "api/plain": '---\napi: "GET /plain/{id}"\n---\n\n<ParamField path="id" type="string">One.</ParamField>',
    "apis": "# Apis\n\nNot of the folder api.",
    "newer": "---\ntitle: Newer\nversion: v2\n---\n\nWords.",
    "old/notes": "# Old notes\n\nWords.",
    "unlisted": "# Unlisted\n\nReachable.",
}

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="{}"/></svg>'

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "get": {
                "summary": "List things",
                "parameters": [
                    {"name": "zebra", "in": "query", "schema": {"type": "string"}},
                    {"name": "apple", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "All"}},
            },
            "post": {
                "summary": "Make a thing",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"zebra": {"type": "string"}, "apple": {"type": "integer"}},
                            }
                        }
                    }
                },
                "responses": {"201": {"description": "Made"}},
            },
        },
        "/unnamed": {"delete": {"summary": "Remove all", "responses": {"204": {"description": "Gone"}}}},
    },
}

YAML = """
openapi: 3.1.0
info: {title: More, version: "1"}
paths:
  /more:
    get:
      summary: More of them
      responses: {"200": {description: Yes}}
"""


def made(folder: Path, options: SiteOptions = SiteOptions(), **fields: Any) -> Path:  # noqa: B008  # frozen
    """The folder of the built site."""
    source, out = folder / "source", folder / "out"
    texts = {f"{path}.md": text for path, text in PAGES.items()}
    texts |= {
        "light.svg": SVG.format("#111111"),
        "dark.svg": SVG.format("#eeeeee"),
        "ground.svg": SVG.format("#abcdef"),
    }
    texts |= {"things.json": json.dumps(DOCUMENT), "more.yaml": YAML}
    texts["site.json"] = json.dumps({"name": "Acme", "navigation": NAVIGATION, **fields})
    for path, text in texts.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text, "utf-8")
    build(source, out, options)
    return out


async def visit(open_page: OpenPage, out: Path, path: str = "index", **options: Any) -> Watched:
    """A page of it, after which nothing was said in the console and no policy was violated."""
    seen: Watched = await open_page(**options)
    await seen.page.goto(f"file://{out}/{path}.html")
    assert seen.console == []
    assert await seen.violations() == []
    return seen


async def style(page: Page, selector: str, name: str) -> str:
    """A computed property of the first element."""
    found: str = await page.locator(selector).first.evaluate("(element, name) => getComputedStyle(element)[name]", name)
    return found


async def texts(page: Page, selector: str) -> list[str]:
    """What is seen of each element that is seen."""
    return [(await each.inner_text()).strip() for each in await page.locator(selector).all() if await each.is_visible()]
