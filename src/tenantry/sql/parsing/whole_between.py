"""The fix for half a ``between`` in an optional clause, in the author's own words where these are plain."""

from __future__ import annotations

import re
from typing import Final

_OPERAND: Final = r"\{\{[^{}]*\}\}|'[^']*'|[-+]?[\w.]+(?:\([^()]*\))?(?:::\w+)?"
_BRACKETS: Final = r"(?:\s*(?:\[\[|\]\]))*\s*"
_ENDS: Final = re.compile(
    rf"between{_BRACKETS}(?P<low>{_OPERAND}){_BRACKETS}and{_BRACKETS}(?P<high>{_OPERAND})"
    r"(?=\s*(?:\]\]|[),;]|\Z|(?:and|or|group|order|limit)\b))",
    re.IGNORECASE,
)
_NAME: Final = r"(?:[^\W\d]\w*|\"[^\"]+\"|`[^`]+`)"
_COLUMN: Final = re.compile(
    r"(?:[(,]|\[\[|\]\]|(?<![\w$.])(?:where|and|or|on|having|when|(?P<not>not)))\s*"
    rf"(?P<name>{_NAME}(?:\.{_NAME})*(?:\([^()]*\))?)\s+(?P<negated>not\s+)?{_BRACKETS}\Z",
    re.IGNORECASE,
)
_NEAR: Final = 200  # characters before it


def whole_between(text: str, offset: int) -> str:
    """What to write instead of the ``between`` at an offset: two comparisons, or all of it in the clause."""
    column = _COLUMN.search(text, max(0, offset - _NEAR), offset)
    ends = _ENDS.match(text, offset)
    if column is None or ends is None:
        return "put all of the between into one clause: [[ and column between {{ params.a }} and {{ params.b }} ]]"
    name, negated, low, high = column["name"], column["not"] or column["negated"], ends["low"], ends["high"]
    whole = f"[[ and {name} {'not ' if negated else ''}between {low} and {high} ]]"
    if negated or "]]" in ends[0]:
        return f"put all of the between into one clause: {whole}"
    return f"write {name} >= {low} [[ and {name} <= {high} ]]; or put all of the between into one clause: {whole}"
