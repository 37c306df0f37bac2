"""Links: what is left of a component that is not known here, when it leads somewhere."""

from __future__ import annotations

import re

from markupsafe import Markup

from tenantry_site.components import marks
from tenantry_site.components.drawn import children, line, safe
from tenantry_site.nodes import Element, RenderContext

_WORDS = ("title", "label", "name", "text", "cta", "alt")
"""Attributes in which such components have their words."""
_LINK = Markup('<a href="{}">{}</a>')
_BLOCK = re.compile(r"<(?!/?(?:a|abbr|b|br|code|del|em|i|img|kbd|mark|path|s|small|span|strong|sub|sup|svg|u)\b)")
_PARAGRAPH = re.compile(r"\s*<p>((?:(?!</?p>).)*)</p>\s*", re.DOTALL)


def unknown_link(element: Element, context: RenderContext) -> str:
    """``<AnyName href="…">``: its title, else its contents, else the address, as a link. Contents that hold blocks or
    links of their own stand behind the link: a link holds neither."""
    target = element.text("href").strip()
    href = context.href(target, element.line)
    inner = children(context, *element.children)
    if href is None:
        return str(inner)
    title = next((found for name in _WORDS if (found := line(context, element.text(name)))), Markup())
    only = _PARAGRAPH.fullmatch(inner)
    words = safe(only[1]) if only else inner
    if not title and words.strip() and not _BLOCK.search(words) and "<a" not in words:
        return str(_written(element, _LINK.format(safe(href), words.strip())))
    link = _written(element, _LINK.format(safe(href), marks.unlinked(title) or target))
    return str(link + inner)


def _written(element: Element, link: Markup) -> Markup:
    """A link within a line of text, or a paragraph of its own."""
    return link if element.inline else Markup("<p>{}</p>\n").format(link)
