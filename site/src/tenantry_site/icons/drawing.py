"""Icons as SVG: one path each, whose weight is a matter of the stylesheet.

The free set has one weight, and a second of some icons. The others are drawn from its outline: a class says how
(``components.css``), so that no page needs a style attribute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

from tenantry_site.config.model import IconType
from tenantry_site.icons import bundle
from tenantry_site.icons.bundle import Outline
from tenantry_site.icons.names import nearest, resolve

KINDS: tuple[str, ...] = get_args(IconType)
"""The eleven icon types of the configuration file."""

DEFAULT = "duotone"
GROUND = 640
"""Every icon is drawn in the middle of a square this wide, so that a column of them is aligned."""
HEIGHT = 512

__all__ = ["DEFAULT", "KINDS", "nearest", "svg"]


@lru_cache(maxsize=2048)
def svg(name: str, kind: str = DEFAULT) -> str | None:
    """The icon as one SVG element, safe to write into a page; None for a name that no icon has.

    ``kind`` is one of ``KINDS``, anything else is the default. The icon follows the size and colour of the text that it
    stands in, and is hidden from assistive technology: it never stands without words.
    """
    icon = resolve(name)
    outlines = bundle.outlines(icon) if icon else {}
    if not outlines:
        return None
    classes, outline = _choose(outlines, kind if kind in KINDS else DEFAULT)
    left, top = (outline.width - GROUND) // 2, (HEIGHT - GROUND) // 2
    return (
        f'<svg class="icon {classes}" viewBox="{left} {top} {GROUND} {GROUND}" width="16" height="16"'
        f' fill="currentColor" aria-hidden="true" focusable="false"><path d="{outline.path}"/></svg>'
    )


def _choose(outlines: dict[str, Outline], kind: str) -> tuple[str, Outline]:
    """A brand's mark is never redrawn; a regular icon is its own glyph where there is one (``icon-drawn``)."""
    if "brands" in outlines and (kind == "brands" or "solid" not in outlines):
        return "icon-brands", outlines["brands"]
    if kind.endswith("regular") and "regular" in outlines:
        return f"icon-{kind} icon-drawn", outlines["regular"]
    return f"icon-{'solid' if kind == 'brands' else kind}", outlines["solid"]
