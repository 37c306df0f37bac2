"""Icons of components. An author gives a name, the path of a picture, or an SVG in an attribute (``icon={<svg …/>}``).

An SVG is converted from JSX spelling to HTML. Then an allow-list keeps only shapes, their presentation attributes, and
references within the drawing. It removes scripts, event handlers, styles, links, and everything that loads other files.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

import nh3
from markupsafe import Markup

from tenantry_site.components.markup import color_class, report_unusable, safe
from tenantry_site.page import Element, RenderContext
from tenantry_site.templating import render_template

_PICTURE_SUFFIXES = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".ico")


def icon(
    element: Element, context: RenderContext, default: str = "", attribute: str = "icon", colored: bool = True
) -> Markup:
    """The icon in an element's attribute: a name, the path of a picture, or an SVG. ``default``: name of the icon if
    the attribute is missing. ``colored``: apply the element's ``color``."""
    name = element.text(attribute).strip()
    if name.startswith("<"):
        drawing = _own(name, element, context, attribute)
    else:
        kind = element.text("iconType")
        if not name:
            name, kind = default, kind or "solid"
        named = "/" not in name and not name.lower().endswith(_PICTURE_SUFFIXES)
        drawing = safe(context.icon(name, kind) if name else "") if named else _picture(name, element, context)
    if not drawing:
        return Markup()
    return render_template("components/mark", color=color_class(element, context) if colored else "", drawing=drawing)


def _picture(path: str, element: Element, context: RenderContext) -> Markup:
    source = context.source(path, element.line) if path else None
    return render_template("components/mark_picture", source=safe(source)) if source else Markup()


def _own(markup: str, element: Element, context: RenderContext, attribute: str) -> Markup:
    """The icon for markup in an attribute: ``<svg …>``, ``<img src>`` or ``<Icon icon>``."""
    if markup.startswith("<svg"):
        html = safe(own_svg(markup, context.identifier("icon")))
    elif markup.startswith("<img"):
        html = _picture(_attribute(markup, "src"), element, context)
    else:
        name = _attribute(markup, "icon") or _attribute(markup, "name")
        html = safe(context.icon(name, _attribute(markup, "iconType") or element.text("iconType")))
    if not html:
        report_unusable(element, context, attribute, "write the name of an icon, or the path of a picture")
    return html


def _attribute(markup: str, name: str) -> str:
    found = re.search(rf"""\s{name}\s*=\s*(?:\{{\s*)?(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)""", markup)
    return unescape(found[found.lastindex or 1]).strip() if found else ""


_SHAPE: Final = frozenset({
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin",
    "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "stroke-opacity", "opacity", "transform", "clip-path",
    "clip-rule", "mask", "color", "vector-effect", "paint-order", "display",
})  # fmt: skip
_GRADIENT: Final = {"id", "gradientUnits", "gradientTransform", "spreadMethod", "href"}
_ELEMENTS: Final[dict[str, set[str]]] = {
    "svg": {"viewBox", "width", "height", "preserveAspectRatio"},
    "g": {"id"},
    "defs": set(),
    "symbol": {"id", "viewBox", "preserveAspectRatio"},
    "use": {"href", "x", "y", "width", "height"},
    "path": {"d", "id", "pathLength"},
    "rect": {"x", "y", "width", "height", "rx", "ry", "id"},
    "circle": {"cx", "cy", "r", "id"},
    "ellipse": {"cx", "cy", "rx", "ry", "id"},
    "line": {"x1", "y1", "x2", "y2"},
    "polyline": {"points"},
    "polygon": {"points", "id"},
    "linearGradient": {"x1", "y1", "x2", "y2", *_GRADIENT},
    "radialGradient": {"cx", "cy", "r", "fx", "fy", "fr", *_GRADIENT},
    "stop": {"offset", "stop-color", "stop-opacity"},
    "clipPath": {"id", "clipPathUnits"},
    "mask": {"id", "maskUnits", "maskContentUnits", "x", "y", "width", "height"},
}
_ATTRIBUTES: Final = {name: own | _SHAPE for name, own in _ELEMENTS.items()}
_EMPTIED: Final = {"script", "style", "title", "desc", "foreignObject", "metadata", "text", "iframe", "noscript"}
"""Elements that are removed together with their contents."""

_PLAIN: Final = re.compile(r"[\w\s#.,%+():/-]*")
"""The characters allowed in values. A backslash or quote could hide a ``url(`` (CSS Syntax, section 4)."""
_LOCAL: Final = re.compile(r"url\(\s*#([\w-]+)\s*\)")
_COMMENT: Final = re.compile(r"\{\s*/\*.*?\*/\s*\}", re.DOTALL)
_BRACED: Final = re.compile(r"""=\s*\{\s*(?:"([^"{}]*)"|'([^'{}]*)'|`([^`{}]*)`|(-?[\d.]+))\s*\}""")
_OBJECT: Final = re.compile(r"\s[\w:-]+\s*=\s*\{(?:[^{}]|\{[^{}]*\})*\}|\{\s*\.\.\.[^{}]*\}")
_CAMEL: Final = re.compile(
    r"(?<=\s)(stroke|fill|clip|stop|vector|paint)(Width|Linecap|Linejoin|Miterlimit|Dasharray|Dashoffset|Opacity|Rule|Path"
    r"|Color|Effect|Order)(?=\s*=)"
)
_TEXT: Final = re.compile(r">[^<>]+<")
"""Text between elements. It is removed: none of the allowed elements shows text."""
_OPENING: Final = re.compile(r"<svg\b[^>]*>")
_SIZE: Final = re.compile(r' (width|height)="([\d.]+)(?:px)?"|(?: (?:width|height)="[^"]*")')


def own_svg(markup: str, prefix: str) -> str:
    """An author's SVG as safe HTML in icon size; empty if it is not one SVG with a shape. ``prefix`` is put before each
    id in the SVG, so that drawings on one page do not share ids."""
    text = _BRACED.sub(lambda found: f'="{found[found.lastindex or 1]}"', _COMMENT.sub("", markup))
    text = _OBJECT.sub(" ", text).replace("xlinkHref", "href").replace("xlink:href", "href")
    cleaned = nh3.clean(
        _CAMEL.sub(lambda found: f"{found[1]}-{found[2].lower()}", text),
        tags=set(_ELEMENTS),
        clean_content_tags=_EMPTIED,
        attributes=_ATTRIBUTES,
        attribute_filter=lambda _, name, value: _value(name, value, prefix),
        strip_comments=True,
        link_rel=None,
    ).strip()
    opening = _OPENING.match(cleaned)
    end = cleaned.find("</svg>")
    inner = _TEXT.sub("><", f">{cleaned[opening.end() : end]}<")[1:-1] if opening is not None else ""
    if opening is None or not inner or cleaned.count("<svg") != 1:
        return ""
    return f"{_root(opening[0])}{inner}</svg>"


def _value(name: str, value: str, prefix: str) -> str | None:
    if name == "id":
        return f"{prefix}-{value}" if re.fullmatch(r"[\w-]+", value) else None
    if name == "href":
        return f"#{prefix}-{value[1:]}" if re.fullmatch(r"#[\w-]+", value) else None
    if not _PLAIN.fullmatch(value):
        return None
    if "url" in value.lower():
        local = _LOCAL.fullmatch(value.strip())
        return f"url(#{prefix}-{local[1]})" if local else None
    return value


def _root(opening: str) -> str:
    """The ``<svg>`` tag in icon size. Without ``fill``, it has the colour of the text around it."""
    sizes = {found[1]: found[2] for found in _SIZE.finditer(opening) if found[1]}
    rest = _SIZE.sub("", opening)[len("<svg") : -1].rstrip("/")
    if "viewBox=" not in rest and len(sizes) == 2:
        rest += f' viewBox="0 0 {sizes["width"]} {sizes["height"]}"'
    fill = "" if " fill=" in rest else ' fill="currentColor"'
    return f'<svg class="icon icon-own" width="16" height="16" aria-hidden="true" focusable="false"{rest}{fill}>'
