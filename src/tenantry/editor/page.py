"""The page of the SQL editor. It contains no data and is the same for every author."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from tenantry.dashboards import FURTHER as DRAWING
from tenantry.dashboards import NOT_BUILT, POLICY, BuiltFiles

SCRIPT: Final = "editor.js"
STYLE: Final = "editor.css"
CHUNKS: Final = ("editor_chart.js", "editor_diff.js", "editor_results.js", "editor_yaml.js")
"""Bundles of the editor that its script loads when they are needed. hatch_build.py builds them."""
FURTHER: Final = (*CHUNKS, *DRAWING)
"""All bundles that the script loads by the elements ``<meta name="tenantry-file">``. They include those that draw the
panels of dashboards."""

_POLICY: Final = f"{POLICY}; frame-src 'self'; frame-ancestors 'none'"
_PAGE: Final = """<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="tenantry-mount" content="{mount}">
{links}{further}<title>SQL editor</title>
<link rel="stylesheet" href="{mount}/-/assets/{style}">
<script type="module" src="{mount}/-/assets/{script}"></script>
</head>
<body>
<div id="editor"></div>
<noscript><p>The editor needs JavaScript. Please allow it for this page, and load it again.</p></noscript>
</body>
</html>
"""


def page_routes(*, links: bool = True) -> list[BaseRoute]:
    """Return the routes of the page and of its bundles. They need no author. ``links``: whether the page tells a person
    without a session how to get a one-time link."""
    built = BuiltFiles((SCRIPT, STYLE, *FURTHER))

    async def page(request: Request) -> Response:
        return _page(built, request, links)

    return [Route("/", page), Route("/-/assets/{address}", built.respond)]


def _page(built: BuiltFiles, request: Request, links: bool) -> Response:
    script, style = built.address(SCRIPT), built.address(STYLE)
    if script is None or style is None:
        return PlainTextResponse(NOT_BUILT, 503, headers={"Cache-Control": "no-store"})
    mount = escape(request.scope.get("root_path", ""))
    further = [
        f'<meta name="tenantry-file" data-file="{name}" content="{mount}/-/assets/{address}">\n'
        for name in FURTHER
        if (address := built.address(name)) is not None
    ]
    headers = {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    named = '<meta name="tenantry-links">\n' if links else ""
    page = _PAGE.format(mount=mount, links=named, further="".join(further), style=style, script=script)
    return HTMLResponse(page, headers=headers)
