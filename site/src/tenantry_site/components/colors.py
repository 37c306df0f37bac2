"""Colours that authors chose: each becomes one of eight classes, so that no page needs a style attribute.

The classes name the data colours of ``tokens.css``, which can be read on both grounds.
"""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from functools import lru_cache

from tenantry_site.components import diagnostics
from tenantry_site.nodes import Element, RenderContext

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
        diagnostics.unusable(element, context, attribute, "write a hex colour (#2f5bd8) or a plain word (blue)")
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
