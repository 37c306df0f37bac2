"""Literals: texts and JSON values in the spelling of a language."""

from __future__ import annotations

import json
import re
from typing import Final

_TOKENS: Final = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b')
_PYTHON: Final = {"true": "True", "false": "False", "null": "None"}


def quoted(text: str) -> str:
    """A string literal of Python and of JavaScript alike: JSON's escapes are a part of both."""
    return json.dumps(text, ensure_ascii=False)


def value(text: str, language: str, indent: int) -> str | None:
    """JSON text as an expression, its lines indented; None if the text is not JSON.

    Numbers stay as they were written: a program that read them would round large ones.
    """
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None

    def spelled(match: re.Match[str]) -> str:
        literal, colon, word = match.groups()
        if word:
            return _PYTHON[word] if language == "python" else word
        again, rest = quoted(json.loads(literal)), colon or ""
        sets_prototype = rest and again == '"__proto__"' and language == "javascript"
        return f"[{again}]{rest}" if sets_prototype else again + rest

    return indented(_TOKENS.sub(spelled, text.strip()), indent)


def indented(text: str, indent: int) -> str:
    """All lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * indent)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
