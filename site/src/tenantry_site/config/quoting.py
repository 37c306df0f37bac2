"""Quoting: what stands in a hostile file, short and safe to print."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

LONGEST = 60
"""Characters of a value that a message shows."""

# Controls, and what turns or hides text on a terminal: bidirectional marks, invisible and line-separating characters.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def safe(text: str) -> str:
    """The text with every character escaped that a terminal would obey or hide."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or (
        f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    )


def clip(text: str, longest: int = LONGEST) -> str:
    """The beginning of the text, safe, with … where it was cut."""
    return safe(text) if len(text) <= longest else safe(text[: longest - 1]) + "…"


def quoted(text: str) -> str:
    """A text between double quotes, short and safe."""
    return f'"{clip(text)}"'


def describe(value: Any) -> str:
    """What a value of the file is, in words."""
    if isinstance(value, str):
        return f"the string {quoted(value)}" if value else "an empty string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not isfinite(value):
        return "a number too large to be read"
    if isinstance(value, (int, float)):
        return f"the number {clip(repr(value))}"
    if isinstance(value, dict):
        keys = ", ".join(quoted(key) for key in list(value)[:4]) + (", …" if len(value) > 4 else "")
        return f"an object with {keys}" if value else "an empty object"
    return f"a list of {len(value)}" if value else "an empty list"
