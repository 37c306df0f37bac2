"""The accent of a group, made readable: whatever colour a customer's brand has, text in it keeps its contrast."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.groups import Record

COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")
"""The one spelling that becomes part of a stylesheet."""

DEFAULT = "2f5bd8"

TEXT_CONTRAST = 4.5
"""The contrast of text of any size with its ground (WCAG 2.2, level AA)."""

LIGHT_GROUNDS, DARK_GROUNDS = ("ffffff", "f7f8fa"), ("0f1115", "171a21")
"""Page and surface of tokens.css in both modes."""


def accent_of(variables: Record) -> str:
    """The six digits of the property ``accent``, or those of the default when there is none, or it is no colour."""
    value = variables["accent"] if "accent" in variables else DEFAULT  # noqa: SIM401  # a Record has no methods
    found = COLOUR.fullmatch(value) if isinstance(value, str) else None
    return found[1].lower() if found else DEFAULT


def stylesheet(colour: str) -> str:
    """The rules that set ``--accent`` for both modes, as close to ``colour`` (six hex digits) as contrast allows."""
    light, dark = readable(colour, LIGHT_GROUNDS), readable(colour, DARK_GROUNDS)
    return (
        f":root {{ --accent: #{light}; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ --accent: #{dark}; }} }}\n"
    )


def readable(colour: str, grounds: tuple[str, ...]) -> str:
    """``colour``, mixed with as little black or white as makes text in it readable on every ground."""
    end = max(("000000", "ffffff"), key=lambda ink: _contrast(ink, grounds))
    mixes = (_mix(colour, end, step / 100) for step in range(100))
    return next((each for each in mixes if _contrast(each, grounds) >= TEXT_CONTRAST), end)


def _contrast(colour: str, grounds: tuple[str, ...]) -> float:
    """The lowest contrast ratio of a colour with these grounds (WCAG 2.2)."""
    pairs = (sorted((_luminance(colour), _luminance(ground))) for ground in grounds)
    return min((high + 0.05) / (low + 0.05) for low, high in pairs)


def _luminance(colour: str) -> float:
    shares = [part / 255 for part in _parts(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def _mix(colour: str, other: str, share: float) -> str:
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (0, 2, 4)]
