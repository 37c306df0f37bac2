"""Errors, with fixes, for ``{% … %}`` and for filters of other template languages."""

from __future__ import annotations

import re
from typing import Final

from tenantry.sql.lexing.lexemes import word_set

_STATEMENT = re.compile(r"\{%[-+]?\s*(\w*)")
_REWRITES = (
    "for a condition write {{ params.x | matches(column) }}, [[ and a = {{ params.x }} ]] or "
    "{{ params.x | one_of(name: sql, name: sql) }}; for a loop, `in {{ name }}` or any({{ name | array }}); for an "
    "include, ({{> name }}); for a variable, declare a parameter with a default; for the characters, \\{% or \\{{"
)


def statement_left_out(text: str, offset: int) -> tuple[str, str]:
    match = _STATEMENT.match(text, offset)
    word = match.group(1).lower() if match is not None else ""
    return f"{{% {word or '…'} %}} is left out of the language on purpose, as all statements are", _REWRITES


FILTERS_LEFT_OUT: Final = word_set(
    """safe sqlsafe raw identifier ident column table quote literal escape e inclause join bind upper lower trim replace
    format int float string"""
)
"""Filters of other template languages that we do not have. We left them out because they turn a value into SQL, or
compute something from a value."""


def filter_left_out(name: str) -> tuple[str, str]:
    problem = f"there is no filter {name}, on purpose: a value is bound as it is, and never becomes SQL"
    fix = (
        "a name to choose is {{ params.x | one_of(name, name) }}, a list in {{ name }}; SQL's own functions do the rest"
    )
    return problem, fix
