"""Runners: functions that take a text and run it as SQL, so that a value bound into them is SQL after all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from tenantry.sql.dialects import Dialect
from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.source import Source

_SIGN = re.compile(r"[()]|[A-Za-z_][\w$]*|\S")


@cache
def _names(dialect: Dialect) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(dialect.runners))})\b", re.IGNORECASE)


def refuse_runners(source: Source, dialect: Dialect, pieces: Sequence[Piece]) -> None:
    """Raises TemplateError for the first tag between the parentheses of such a function, however deep."""
    if not dialect.runners or _names(dialect).search(source.text) is None:
        return
    word, runner, depth = "", "", 0
    for piece in pieces:
        if piece.kind is Kind.TAG or piece.kind is Kind.HOLED:
            if runner:
                problem = f"{runner}() runs its text as SQL, so a variable in it would be SQL and not a value"
                raise source.error(
                    piece.start, problem, "write the query itself in the template, with {{ name }} in it"
                )
        elif piece.kind is Kind.QUOTED:
            word = source.text[piece.start + 1 : piece.end - 1].lower()  # "query"(…) is the same function
        elif piece.kind is Kind.CODE:
            for match in _SIGN.finditer(source.text, piece.start, piece.end):
                sign = match.group().lower()
                if sign == "(" and not runner:
                    runner, depth = (word if word in dialect.runners else ""), 1
                elif runner and sign in "()":
                    depth += 1 if sign == "(" else -1
                    runner = runner if depth else ""
                word = sign
