"""Contrast: hex colours, and what is readable on what (WCAG 2.2, success criteria 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re

TEXT = 4.5
"""The contrast of text of any size with its ground (AA)."""

GRAPHICS = 3.0
"""The contrast of what is drawn, and of the edge of a control, with its ground."""

MIDDLE = 0.1791
"""The luminance of a ground on which black and white are equally readable."""

BLACK, WHITE = "000000", "ffffff"

_HEX = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_STEPS = 100


def read(value: str | None) -> str | None:
    """The six digits of a hex colour of 3, 4, 6 or 8; None for anything else. Transparency is left out."""
    found = _HEX.fullmatch(value.strip()) if value else None
    if not found:
        return None
    digits = found[1].lower()
    return "".join(digit * 2 for digit in digits[:3]) if len(digits) < 6 else digits[:6]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours of six digits, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def least(colour: str, grounds: tuple[str, ...]) -> float:
    """The contrast of a colour with the ground that it stands out from least."""
    return min(contrast(colour, ground) for ground in grounds)


def readable(colour: str, grounds: tuple[str, ...], ratio: float = TEXT) -> str:
    """``colour`` itself where it is readable on every ground, else mixed with as little black or white as makes it so.

    Where not even black or white is readable on all grounds, the better of the two.
    """
    end = ink(*grounds)
    for step in range(_STEPS):
        mixed = mix(colour, end, step / _STEPS)
        if least(mixed, grounds) >= ratio:
            return mixed
    return end


def ink(*grounds: str) -> str:
    """White where it is readable on all of these grounds, else the better of black and white."""
    if least(WHITE, grounds) >= TEXT:
        return WHITE
    return max((BLACK, WHITE), key=lambda colour: least(colour, grounds))


def mix(colour: str, other: str, share: float) -> str:
    """A colour with a share (0 to 1) of another."""
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def luminance(colour: str) -> float:
    """The relative luminance, 0 to 1 (WCAG 2.2, "relative luminance")."""
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[0:2], 16), int(colour[2:4], 16), int(colour[4:6], 16)
