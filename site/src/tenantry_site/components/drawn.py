"""HTML that is safe by where it comes from: the page that is asked to draw, or the templates here."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.nodes import Draw, Node


def safe(html: str) -> Markup:
    """HTML or an address that ``Draw`` gave, which is escaped already."""
    return Markup(html)  # noqa: S704  # the one place where text is called safe


def children(draw: Draw, *nodes: Node) -> Markup:
    """The HTML of nodes."""
    return safe(draw.nodes(nodes))


def line(draw: Draw, markdown: str) -> Markup:
    """The HTML of a line of Markdown; empty for none."""
    text = markdown.strip()
    return safe(draw.inline(text)) if text else Markup()
