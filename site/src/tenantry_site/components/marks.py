"""Marks: titles, and the small picture before one."""

from __future__ import annotations

import json
import re
from html import unescape

from markupsafe import Markup, escape

from tenantry_site.components import notes
from tenantry_site.components.drawn import children, line, safe
from tenantry_site.components.own_icons import own_svg
from tenantry_site.components.tints import tint
from tenantry_site.nodes import AttributeValue, Element, RenderContext

_LINK = re.compile(r"</?a\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_MARK = Markup('<span class="mark{}">{}</span>')
_PICTURE = Markup('<img class="icon" src="{}" alt="" width="16" height="16" loading="lazy">')
_CONTENT = Markup('<div class="{}">{}</div>')
_PICTURES = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".ico")


def title(element: Element, context: RenderContext, otherwise: str = "", attribute: str = "title") -> Markup:
    """The title as HTML, or ``otherwise`` with a note."""
    found = line(context, element.text(attribute))
    if not found:
        notes.missing(element, context, attribute, otherwise)
    return found or escape(otherwise)


def unlinked(html: Markup) -> Markup:
    """HTML without its links, to stand within a link. Taking whole tags away leaves it safe."""
    return safe(_LINK.sub("", html))


def plain(html: Markup) -> str:
    """The text of HTML, not escaped."""
    return unescape(_TAG.sub("", html)).strip()


def icon(
    element: Element, context: RenderContext, otherwise: str = "", attribute: str = "icon", tinted: bool = True
) -> Markup:
    """The icon that an element asks for, by name, as a path to a picture or drawn in the attribute, in the colour that
    it asks for."""
    name = element.text(attribute).strip()
    if name.startswith("<"):
        own = _own(name, element, context, attribute)
        return _MARK.format(tint(element, context) if tinted else "", own) if own else Markup()
    kind = element.text("iconType")
    if not name:
        name, kind = otherwise, kind or "solid"
    if not name:
        return Markup()
    named = "/" not in name and not name.lower().endswith(_PICTURES)
    drawn = safe(context.icon(name, kind)) if named else _picture(name, element, context)
    return _MARK.format(tint(element, context) if tinted else "", drawn) if drawn else Markup()


def _picture(path: str, element: Element, context: RenderContext) -> Markup:
    source = context.source(path, element.line) if path else None
    return _PICTURE.format(safe(source)) if source else Markup()


def _own(markup: str, element: Element, context: RenderContext, attribute: str) -> Markup:
    """``<svg …>``, ``<img src>`` or ``<Icon icon>`` as the value of an attribute."""
    if markup.startswith("<svg"):
        drawn = safe(own_svg(markup, context.identifier("icon")))
    elif markup.startswith("<img"):
        drawn = _picture(_attribute(markup, "src"), element, context)
    else:
        name = _attribute(markup, "icon") or _attribute(markup, "name")
        drawn = safe(context.icon(name, _attribute(markup, "iconType") or element.text("iconType")))
    if not drawn:
        notes.unusable(element, context, attribute, "write the name of an icon, or the path of a picture")
    return drawn


def _attribute(markup: str, name: str) -> str:
    """The text of an attribute, as HTML or JSX writes it."""
    found = re.search(rf"""\s{name}\s*=\s*(?:\{{\s*)?(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)""", markup)
    return unescape(found[found.lastindex or 1]).strip() if found else ""


def content(element: Element, context: RenderContext, name: str) -> Markup:
    """The children in a division of the class ``name``; nothing if there are none."""
    inner = children(context, *element.children)
    return _CONTENT.format(name, inner) if inner.strip() else Markup()


def shown(value: AttributeValue) -> str:
    """An attribute's value as its reader writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
