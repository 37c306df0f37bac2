"""The empty page that stands between two tests in a kept page of the editor."""

from __future__ import annotations

from starlette.responses import HTMLResponse
from starlette.routing import Route

BLANK = "-/blank"
"""Its address below the editor's."""


def blank_page() -> Route:
    """It deletes what the editor has stored. Its policy is the editor's: after a page with another, the browser starts
    a new process."""
    html = "<!doctype html><title>Blank</title><script>localStorage.clear()</script>"
    response = HTMLResponse(html, headers={"Cross-Origin-Opener-Policy": "same-origin"})
    return Route(f"/{BLANK}", lambda request: response)
