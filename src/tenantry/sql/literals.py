"""Literals: what the text between a string's quotes means."""

from __future__ import annotations

import re

_MEANINGS = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPES = {quote: re.compile(rf"\\(.)|{quote}{quote}", re.DOTALL) for quote in "'\""}


def unescape(raw: str, quote: str, backslash: bool) -> str:
    """The value of a stretch of a string literal: ``''`` is one quote; in MySQL a backslash escapes (``\\%`` stays)."""
    if not backslash:
        return raw.replace(quote * 2, quote)

    def meaning(match: re.Match[str]) -> str:
        escaped = match.group(1)
        return quote if escaped is None else _MEANINGS.get(escaped, escaped)

    return _ESCAPES[quote].sub(meaning, raw)
