"""The accent of a group, made readable: whatever colour a customer's brand has, text in it keeps its contrast."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tenantry.contrast import readable

if TYPE_CHECKING:
    from tenantry.groups import Record

COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")
"""The one spelling that becomes part of a stylesheet."""

DEFAULT = "2f5bd8"

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
