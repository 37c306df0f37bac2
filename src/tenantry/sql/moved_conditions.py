"""Builds the suggested fix for an optional clause that contains guarded variables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Clause, VariableReference

_BEGINNING: Final = re.compile(r"\s*(where|and|having|on)\b\s*", re.IGNORECASE)
_TOKEN: Final = re.compile(r"\{\{[^{}]*\}\}|'[^'\\]*'|\"[^\"]*\"|--|/\*|[\[\]#;`\\]|\|\||[()]|[^\W\d]\w*|.", re.DOTALL)
_NOT_PLAIN: Final = frozenset({"or", "xor", "||", "case", "--", "/*", "[", "]", "#", ";", "`", "\\", '"', "'", "{"})
_VIEWER: Final = "params."
_LONGEST: Final = 400  # a fix shows at most this many characters of a clause


def moved_out(source: Source, clause: Clause, guarded: Sequence[VariableReference]) -> str:
    """Return the end of a suggested fix: the clause, with the conditions on ``guarded`` variables moved before the
    ``[[``. Return an empty string if there is no simple fix.

    Example of a result: ``: and tenant = {{ tenant }} [[ and day = {{ params.day }} ]]``
    """
    text = source.text[clause.offset + 2 : clause.end]
    beginning = _BEGINNING.match(text)
    if beginning is None or len(text) > _LONGEST:
        return ""
    conditions = _conditions(text, beginning.end())
    offsets = [each.offset - clause.offset - 2 for each in guarded]
    outside = [text[a:b] for a, b in conditions if any(a <= offset < b for offset in offsets)]
    inside = [text[a:b] for a, b in conditions if not any(a <= offset < b for offset in offsets)]
    # Outside of a clause, a viewer would have to send each parameter.
    if not outside or any(_VIEWER in each for each in outside):
        return ""
    if not any(_VIEWER in each for each in inside):  # without a parameter of the viewer, nothing could drop the clause
        outside, inside = [text[a:b] for a, b in conditions], []
    rest = f" [[ and {_joined(inside)} ]]" if inside else ""
    return f": {beginning[1]} {_joined(outside)}{rest}"


def _conditions(text: str, start: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    depth = betweens = 0
    begin = start
    for match in _TOKEN.finditer(text, start):
        sign = match[0].lower()
        if sign in _NOT_PLAIN and (depth == 0 or not sign.isalpha()):
            return []
        depth += (sign == "(") - (sign == ")")
        betweens += sign == "between" and depth == 0
        if sign == "and" and depth == 0:
            if betweens:
                betweens -= 1
            else:
                found.append((begin, match.start()))
                begin = match.end()
    return [*found, (begin, len(text))] if depth == 0 else []


def _joined(conditions: Sequence[str]) -> str:
    return " and ".join(" ".join(each.split()) for each in conditions)
