"""The frame: the HTML page of a dashboard. It contains no data and is the same for every viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from tenantry.dashboards.assets import NOT_BUILT, BuiltFiles
from tenantry.dashboards.definition.model import DashboardFile, PanelKind
from tenantry.dashboards.embedding.frame_ancestors import frame_ancestors_policy
from tenantry.dashboards.panels.description import readable_name

SCRIPT: Final = "page.js"
STYLE: Final = "page.css"
CHUNKS: Final = {kind: f"{kind}.js" for kind in (PanelKind.DONUT, PanelKind.HEATMAP, PanelKind.SCATTER)}
"""Kind of chart -> the bundle that draws it. The frame of a dashboard with such a chart loads the bundle together with
the page's script."""
FURTHER: Final = (*CHUNKS.values(), "menu_entries.js", "pickers.js", "print.js", "vega.js")
"""Bundles that the page's script loads only when it needs them. The script finds their addresses in the elements
``<meta name="tenantry-file">``."""

POLICY: Final = (
    "default-src 'self'; connect-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content-Security-Policy: no other host, no inline script or style, no eval. ``frame-ancestors`` is appended."""

_PAGE: Final = """<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="tenantry-mount" content="{mount}">
{head}<title>{title}</title>
<link rel="stylesheet" href="{mount}/-/assets/{style}">
<script type="module" src="{mount}/-/assets/{script}"></script>
</head>
<body>
{body}</body>
</html>
"""
_DASHBOARD: Final = """<div id="dashboard" data-name="{name}">
<div class="skeleton" aria-hidden="true">
{skeleton}</div>
</div>
<noscript><p>This dashboard needs JavaScript. Please allow it for this page, and load it again.</p></noscript>
"""


class Frame:
    # With `in_editor`, the page's requests have cookies, by which the editor knows the author.

    def __init__(self, built: BuiltFiles, *, in_editor: bool = False) -> None:
        self._built = built
        self._in_editor = in_editor

    def response(self, request: Request, dashboard: DashboardFile, hosts: Sequence[str], status: int = 200) -> Response:
        """Return the page, which ``hosts`` may embed."""
        chunks = dict.fromkeys(CHUNKS[panel.kind] for panel in dashboard.panels if panel.kind in CHUNKS)
        addresses = filter(None, map(self._built.address, chunks))
        assets = f"{escape(request.scope.get('root_path', ''))}/-/assets"
        head = [f'<meta name="tenantry-hosts" content="{escape(" ".join(hosts))}">\n']
        if self._in_editor:
            head.append('<meta name="tenantry-author">\n')
        head += [f'<link rel="modulepreload" href="{assets}/{address}">\n' for address in addresses]
        headers = {
            "Content-Security-Policy": f"{POLICY}; {frame_ancestors_policy(hosts)}",
            # A host page with Cross-Origin-Embedder-Policy: require-corp embeds only frames with both of these headers.
            "Cross-Origin-Embedder-Policy": "require-corp",
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        body = _DASHBOARD.format(name=escape(dashboard.name), skeleton=_skeleton(dashboard))
        return html_page(
            self._built, request, (SCRIPT, STYLE, *FURTHER), _title(dashboard), "".join(head), body, headers, status
        )


def html_page(
    built: BuiltFiles,
    request: Request,
    bundles: Sequence[str],
    title: str,
    head: str,
    body: str,
    headers: Mapping[str, str],
    status: int = 200,
) -> Response:
    """Return a page. ``bundles``: its script, its style, and the bundles that the script loads later. ``head`` and
    ``body`` are HTML. The status is 503 if the bundles are not built."""
    script, style, *further = map(built.address, bundles)
    if script is None or style is None:
        return PlainTextResponse(NOT_BUILT, 503, headers={"Cache-Control": "no-store"})
    mount = escape(request.scope.get("root_path", ""))
    named = [
        f'<meta name="tenantry-file" data-file="{name}" content="{mount}/-/assets/{address}">\n'
        for name, address in zip(bundles[2:], further, strict=True)
        if address is not None
    ]
    page = _PAGE.format(
        mount=mount, head="".join(named) + head, title=escape(title), style=style, script=script, body=body
    )
    common = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}
    return HTMLResponse(page, status, headers={**common, **headers})


def _title(dashboard: DashboardFile) -> str:
    if dashboard.texts.paths:
        return readable_name(dashboard.name)
    return str(dashboard.texts.substitute({})["title"])


def _skeleton(dashboard: DashboardFile) -> str:
    rows = []
    for row in dashboard.rows:
        boxes = "".join(
            f'<div class="skeleton-panel" data-id="{each.id}" data-kind="{each.kind}" data-width="{each.width}"></div>'
            for each in row
        )
        kind = "heading" if all(panel.kind is PanelKind.HEADING for panel in row) else "row"
        rows.append(f'<div class="skeleton-{kind}">{boxes}</div>\n')
    return "".join(rows)
