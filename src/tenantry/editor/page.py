"""The page of the SQL editor. It contains no data and is the same for every author."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tenantry.dashboards import FURTHER as DRAWING
from tenantry.dashboards import POLICY, BuiltFiles, html_page

SCRIPT: Final = "editor.js"
STYLE: Final = "editor.css"
CHUNKS: Final = ("editor_chart.js", "editor_diff.js", "editor_results.js", "editor_yaml.js")
"""Bundles of the editor that its script loads when they are needed. hatch_build.py builds them."""
FURTHER: Final = (*CHUNKS, *DRAWING)
"""All bundles that the page lists in ``<meta name="tenantry-file">``, so that its script can load them. DRAWING
contains the bundles that draw panels."""

_HEADERS: Final = {
    "Content-Security-Policy": f"{POLICY}; frame-src 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_BODY: Final = """<div id="editor"></div>
<noscript><p>The editor needs JavaScript. Please allow it for this page, and load it again.</p></noscript>
"""


def page_routes(*, links: bool = True) -> list[BaseRoute]:
    """Return the page's routes, which need no author. ``links``: whether the page tells a person without a session how
    to get a one-time link."""
    bundles = (SCRIPT, STYLE, *FURTHER)
    built = BuiltFiles(bundles)
    head = '<meta name="tenantry-links">\n' if links else ""

    async def page(request: Request) -> Response:
        return html_page(built, request, bundles, "SQL editor", head, _BODY, _HEADERS)

    return [Route("/", page), Route("/-/assets/{address}", built.respond)]
