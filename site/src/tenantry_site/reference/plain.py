"""Plain: values as every later step may rely on them, whatever the text that they came from.

An alias of YAML may lead back to what holds it, and a few of them may stand for billions of values; a string of JSON
may hold half a character. All of that ends here.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

DEEPEST: Final = 100
MOST: Final = 1_000_000
"""Values of one document, each alias counted as often as it stands for something."""


class TooDeep(Exception):
    """A value nests deeper than ``DEEPEST`` or has more than ``MOST`` values."""


def plain(value: Any) -> Any:
    """A copy of JSON types alone: keys and strange scalars as text, half characters replaced. Raises TooDeep."""
    return _Copy().copy(value, 0)


class _Copy:
    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST

    def copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isascii() else _whole(value)
        if kind is dict or kind is list:
            self._left -= len(value)
            if depth >= DEEPEST or self._left < 0:
                reason = f"nests deeper than {DEEPEST} levels" if depth >= DEEPEST else f"has more than {MOST:,} values"
                raise TooDeep(f"it {reason}")
            if kind is list:
                return [self.copy(item, depth + 1) for item in value]
            return {_key(key): self.copy(item, depth + 1) for key, item in value.items()}
        return _scalar(value)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _whole(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(_scalar(key))


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 10**100 else "a number of more than 100 digits"
    return _whole(str(value))
