"""HTML that is safe by where it comes from: the render context, or the templates here."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.nodes import Node, RenderContext


def safe(html: str) -> Markup:
    """HTML or an address that ``RenderContext`` gave, which is escaped already."""
    return Markup(html)  # noqa: S704  # the one place where text is called safe


def children(context: RenderContext, *nodes: Node) -> Markup:
    """The HTML of nodes."""
    return safe(context.render(nodes))


def line(context: RenderContext, markdown: str) -> Markup:
    """The HTML of a line of Markdown; empty for none."""
    text = markdown.strip()
    return safe(context.render_inline(text)) if text else Markup()
