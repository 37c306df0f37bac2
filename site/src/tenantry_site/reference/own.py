"""Own: what a page's author wrote, with the examples that belong beside it taken out."""

from __future__ import annotations

import re
from typing import Final

_EDGE: Final = re.compile(r"<(/?)(?:div|details|figure|section|table|ul|ol|blockquote)\b")
_EXAMPLE: Final = '<div class="example example-'


def divide(html: str) -> tuple[str, str]:
    """The text, and the examples: at most one of a request and one of a response, which stand in nothing else.

    More of them belong to the words around them, and stay.
    """
    if _EXAMPLE not in html:
        return html, ""
    spans = list(_spans(html))
    kinds = [html[start + len(_EXAMPLE) : start + len(_EXAMPLE) + 3] for start, _ in spans]
    if len(kinds) != len(set(kinds)) or len(spans) != html.count(_EXAMPLE):
        return html, ""
    taken = "".join(html[start:end] for start, end in spans)
    for start, end in reversed(spans):
        html = html[:start] + html[end:]
    return html, taken


def _spans(html: str) -> list[tuple[int, int]]:
    """Where the examples at the outermost level begin and end; finished HTML closes what it opens."""
    found, depth, start = [], 0, -1
    for edge in _EDGE.finditer(html):
        if edge[1]:
            depth -= 1
            if start >= 0 and depth == 0:
                found.append((start, html.index(">", edge.end()) + 1))
                start = -1
        else:
            if depth == 0 and html.startswith(_EXAMPLE, edge.start()):
                start = edge.start()
            depth += 1
    return found
