"""The accent of a group, made readable: whatever colour a customer's brand has, text in it keeps its contrast."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.groups import Record

COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")
"""The one spelling that becomes part of a stylesheet."""

DEFAULT = "2f5bd8"
CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3 (AA), for text of any size."""

LIGHT_GROUNDS, DARK_GROUNDS = ("ffffff", "f7f8fa"), ("0f1115", "171a21")
"""Page and surface of tokens.css in both modes."""

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_STEPS = 100


def accent_of(variables: Record) -> str:
    """The six digits of the property ``accent``, or those of the default when there is none, or it is no colour."""
    value = variables["accent"] if "accent" in variables else DEFAULT  # noqa: SIM401  # a Record has no methods
    found = COLOUR.fullmatch(value) if isinstance(value, str) else None
    return found[1].lower() if found else DEFAULT


def stylesheet(colour: str) -> str:
    """The rules that set ``--accent`` for both modes, as close to ``colour`` (six hex digits) as contrast allows."""
    light, dark = readable(colour, LIGHT_GROUNDS, _BLACK), readable(colour, DARK_GROUNDS, _WHITE)
    return (
        f":root {{ --accent: #{light}; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ --accent: #{dark}; }} }}\n"
    )


def readable(colour: str, grounds: tuple[str, ...], toward: tuple[int, int, int]) -> str:
    """``colour``, mixed with as little of ``toward`` as gives it CONTRAST on every ground."""
    start = _parts(colour)
    for step in range(_STEPS + 1):
        mixed = tuple(round(a + (b - a) * step / _STEPS) for a, b in zip(start, toward, strict=True))
        text = "".join(f"{part:02x}" for part in mixed)
        if all(contrast(text, ground) >= CONTRAST for ground in grounds):
            return text
    raise AssertionError("black and white always have the contrast")  # pragma: no cover


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[0:2], 16), int(colour[2:4], 16), int(colour[4:6], 16)
