"""Helpers for components: diagnostics, colours, and safe HTML.

A colour that an author writes becomes one of eight CSS classes, so that pages need no style attributes. The classes
use the data colours of ``tokens.css``, which are legible on light and dark backgrounds.
"""

from __future__ import annotations

import json
import re
from colorsys import rgb_to_hls
from functools import lru_cache
from html import unescape

from markupsafe import Markup, escape

from tenantry_site.diagnostic import Severity
from tenantry_site.page import AttributeValue, Element, Node, RenderContext

CODES: dict[str, str] = {
    "PAGE050": "A component is outside the component that it is a part of.",
    "PAGE051": "A component contains something that is not one of its parts.",
    "PAGE052": "A component has no title or name.",
    "PAGE053": "An attribute's value cannot be used.",
    "PAGE054": "A component is empty, or has none of the parts that it shows.",
}
"""Diagnostic code -> its meaning."""


def report_outside(element: Element, context: RenderContext, parents: str) -> None:
    """Report a part, such as a tab, that is outside its parent component. The part is shown anyway."""
    message = f"<{element.name}> is outside {parents}: it is shown as a separate section"
    context.report(Severity.WARNING, "PAGE050", message, f"put it into {parents}", element.line)


def report_beside(element: Element, context: RenderContext, parts: str) -> None:
    """Report content between the parts of a component. It is shown with the part before it."""
    message = f"<{element.name}> has content that is not in a {parts}: it is shown with the part before it"
    context.report(
        Severity.INFO, "PAGE051", message, f"put it into a {parts}, or before or after <{element.name}>", element.line
    )


def report_missing(element: Element, context: RenderContext, attribute: str, shown: str) -> None:
    """Report a missing attribute, unless it is an expression, which has been reported already. ``shown``: the
    replacement."""
    if attribute in element.attributes and element.attributes[attribute] is None:
        return
    message = f"<{element.name}> has no {attribute}" + (f': "{shown}" is shown' if shown else "")
    context.report(Severity.WARNING, "PAGE052", message, f'write <{element.name} {attribute}="…">', element.line)


def report_unusable(element: Element, context: RenderContext, attribute: str, fix: str) -> None:
    """Report an attribute value that cannot be used. The component uses its default."""
    value = element.attributes.get(attribute)
    message = f"<{element.name}> has {attribute}={value!r:.60}, which is not used"
    context.report(Severity.INFO, "PAGE053", message, fix, element.line)


def report_empty(element: Element, context: RenderContext, fix: str) -> None:
    """Report a component without content, or without the parts that it shows."""
    what = "has no parts: only its contents are shown" if element.children else "is empty"
    context.report(Severity.WARNING, "PAGE054", f"<{element.name}> {what}", fix, element.line)


_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_HUES = ((15, "red"), (65, "orange"), (165, "green"), (200, "teal"), (255, "blue"), (290, "violet"), (345, "pink"))
"""Upper bounds of hues in degrees, with their colours; a hue above the last bound is red."""
_GREYISH = 0.12

_COLOR_NAMES = {
    "red": "red rose crimson danger error destructive",
    "orange": "orange yellow amber gold warning",
    "green": "green lime emerald success",
    "teal": "teal cyan turquoise",
    "blue": "blue sky indigo navy info",
    "violet": "violet purple",
    "pink": "pink fuchsia magenta",
    "grey": "grey gray slate zinc stone neutral black white silver surface",
}
_COLORS = {name: color for color, names in _COLOR_NAMES.items() for name in names.split()}


def color_class(element: Element, context: RenderContext, attribute: str = "color") -> str:
    """The CSS class for the colour in an attribute, with a leading space: ``" tint-blue"``. Empty without the
    attribute, and for an unknown colour, which is reported."""
    if attribute not in element.attributes:
        return ""
    color = nearest_color(element.text(attribute))
    if color is None:
        report_unusable(element, context, attribute, "write a hex colour (#2f5bd8) or a plain word (blue)")
        return ""
    return f" tint-{color}"


@lru_cache(maxsize=256)
def nearest_color(color: str) -> str | None:
    """The nearest of eight colours to a hex colour or colour name; None for anything else."""
    bare = color.strip().lower()
    if bare in _COLORS:
        return _COLORS[bare]
    digits = _HEX.fullmatch(bare)
    if digits is None:
        return None
    text = digits[1] if len(digits[1]) > 4 else "".join(digit * 2 for digit in digits[1])
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (0, 2, 4))
    if max(red, green, blue) - min(red, green, blue) < _GREYISH:
        return "grey"
    degrees = rgb_to_hls(red, green, blue)[0] * 360
    return next((name for end, name in _HUES if degrees < end), "red")


def safe(html: str) -> Markup:
    """Mark a string as safe. It must be HTML or an address from ``RenderContext``, which is already escaped."""
    return Markup(html)  # noqa: S704  # the only code that calls text safe


def children(context: RenderContext, *nodes: Node) -> Markup:
    return safe(context.render(nodes))


def line(context: RenderContext, markdown: str) -> Markup:
    """A line of Markdown as safe HTML; empty for a blank line."""
    text = markdown.strip()
    return safe(context.render_inline(text)) if text else Markup()


_LINK = re.compile(r"</?a\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


def title(element: Element, context: RenderContext, default: str = "", attribute: str = "title") -> Markup:
    """The title of a component as HTML. A missing title is reported and replaced by ``default``."""
    found = line(context, element.text(attribute))
    if not found:
        report_missing(element, context, attribute, default)
    return found or escape(default)


def unlinked(html: Markup) -> Markup:
    """The HTML without its link tags, for use inside a link."""
    return safe(_LINK.sub("", html))


def plain(html: Markup) -> str:
    return unescape(_TAG.sub("", html)).strip()


def content(element: Element, context: RenderContext) -> Markup:
    inner = children(context, *element.children)
    return inner if inner.strip() else Markup()


def shown(value: AttributeValue) -> str:
    """An attribute's value as text: a string unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
