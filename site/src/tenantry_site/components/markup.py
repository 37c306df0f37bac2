"""The HTML that components share, safe by where it comes from: the page that renders it, or the templates here."""

from __future__ import annotations

import json
import re
from html import unescape

from markupsafe import Markup, escape

from tenantry_site.components import diagnostics
from tenantry_site.nodes import AttributeValue, Element, Node, RenderContext


def safe(html: str) -> Markup:
    """HTML or an address that ``RenderContext`` returned, which is escaped already."""
    return Markup(html)  # noqa: S704  # the one place where text is called safe


def children(context: RenderContext, *nodes: Node) -> Markup:
    """The HTML of nodes."""
    return safe(context.render(nodes))


def line(context: RenderContext, markdown: str) -> Markup:
    """The HTML of a line of Markdown; empty for none."""
    text = markdown.strip()
    return safe(context.render_inline(text)) if text else Markup()


_LINK = re.compile(r"</?a\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_CONTENT = Markup('<div class="{}">{}</div>')


def title(element: Element, context: RenderContext, default: str = "", attribute: str = "title") -> Markup:
    """The title as HTML, or ``default`` with a diagnostic."""
    found = line(context, element.text(attribute))
    if not found:
        diagnostics.missing(element, context, attribute, default)
    return found or escape(default)


def unlinked(html: Markup) -> Markup:
    """HTML without its links, to stand within a link. Taking whole tags away leaves it safe."""
    return safe(_LINK.sub("", html))


def plain(html: Markup) -> str:
    """The text of HTML, not escaped."""
    return unescape(_TAG.sub("", html)).strip()


def content(element: Element, context: RenderContext, name: str) -> Markup:
    """The children in a division of the class ``name``; nothing if there are none."""
    inner = children(context, *element.children)
    return _CONTENT.format(name, inner) if inner.strip() else Markup()


def shown(value: AttributeValue) -> str:
    """An attribute's value as its reader writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
