"""What components share: diagnostics, the colours that authors choose, and HTML that is safe by where it comes from.

Each colour becomes one of eight classes, so that no page needs a style attribute. The classes name the data colours of
``tokens.css``, which can be read on both grounds. HTML is from the page that renders it, or from the templates here.
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
    "PAGE050": "A component stands outside the one that it is a part of.",
    "PAGE051": "A component holds something beside its parts.",
    "PAGE052": "A component has no title, or no name.",
    "PAGE053": "An attribute's value is of no use.",
    "PAGE054": "A component is empty, or has none of the parts that it shows.",
}
"""Diagnostic code -> what it is about."""


def report_outside(element: Element, context: RenderContext, parents: str) -> None:
    """A part of something stands alone; it is shown all the same."""
    message = f"<{element.name}> stands outside {parents}: it is shown as a section of its own"
    context.report(Severity.WARNING, "PAGE050", message, f"put it into {parents}", element.line)


def report_beside(element: Element, context: RenderContext, parts: str) -> None:
    """Something stands between the parts; it is shown with the part before it."""
    message = f"<{element.name}> holds something that is not in a {parts}: it is shown with the part before it"
    context.report(
        Severity.INFO, "PAGE051", message, f"put it into a {parts}, or before or after <{element.name}>", element.line
    )


def report_missing(element: Element, context: RenderContext, attribute: str, shown: str) -> None:
    """An attribute is missing that readers need. One that is an expression was reported when it was read."""
    if attribute in element.attributes and element.attributes[attribute] is None:
        return
    message = f"<{element.name}> has no {attribute}" + (f': "{shown}" is shown' if shown else "")
    context.report(Severity.WARNING, "PAGE052", message, f'write <{element.name} {attribute}="…">', element.line)


def report_unusable(element: Element, context: RenderContext, attribute: str, fix: str) -> None:
    """An attribute's value cannot be honoured; the default is taken."""
    value = element.attributes.get(attribute)
    message = f"<{element.name}> has {attribute}={value!r:.60}, which is not used"
    context.report(Severity.INFO, "PAGE053", message, fix, element.line)


def report_empty(element: Element, context: RenderContext, fix: str) -> None:
    """There is nothing to show, or nothing of what the component shows."""
    what = "has no parts: its contents are shown without it" if element.children else "is empty"
    context.report(Severity.WARNING, "PAGE054", f"<{element.name}> {what}", fix, element.line)


_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_HUES = ((15, "red"), (65, "orange"), (165, "green"), (200, "teal"), (255, "blue"), (290, "violet"), (345, "pink"))
"""Degrees on the colour circle, the first above -> the colour; what is left is red again."""
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
    """``" tint-blue"`` for the colour nearest to the attribute's, with the space before it; empty without one."""
    if attribute not in element.attributes:
        return ""
    color = nearest_color(element.text(attribute))
    if color is None:
        report_unusable(element, context, attribute, "write a hex colour (#2f5bd8) or a plain word (blue)")
        return ""
    return f" tint-{color}"


@lru_cache(maxsize=256)
def nearest_color(color: str) -> str | None:
    """One of eight colours for a hex colour or a word; None for anything else."""
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
    """HTML or an address that ``RenderContext`` returned, which is escaped already."""
    return Markup(html)  # noqa: S704  # the only code that calls text safe


def children(context: RenderContext, *nodes: Node) -> Markup:
    """The HTML of nodes."""
    return safe(context.render(nodes))


def line(context: RenderContext, markdown: str) -> Markup:
    """The HTML of a line of Markdown; empty for none."""
    text = markdown.strip()
    return safe(context.render_inline(text)) if text else Markup()


_LINK = re.compile(r"</?a\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


def title(element: Element, context: RenderContext, default: str = "", attribute: str = "title") -> Markup:
    """The title as HTML, or ``default`` with a diagnostic."""
    found = line(context, element.text(attribute))
    if not found:
        report_missing(element, context, attribute, default)
    return found or escape(default)


def unlinked(html: Markup) -> Markup:
    """HTML without its links, to stand within a link. Taking whole tags away leaves it safe."""
    return safe(_LINK.sub("", html))


def plain(html: Markup) -> str:
    """The text of HTML, not escaped."""
    return unescape(_TAG.sub("", html)).strip()


def content(element: Element, context: RenderContext) -> Markup:
    """The children; empty if there is nothing but space."""
    inner = children(context, *element.children)
    return inner if inner.strip() else Markup()


def shown(value: AttributeValue) -> str:
    """An attribute's value as its reader writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
