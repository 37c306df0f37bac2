"""Errors for ``{% … %}`` and for filters of other template languages. Each error says how to write the same in our
templates."""

from __future__ import annotations

import re
from typing import Final

from tenantry.sql.lexing.lexemes import word_set

_STATEMENT = re.compile(r"\{%[-+]?\s*(\w*)")
_CHOICES = (
    "for a filter that may be absent write {{ params.x | matches(column) }} or [[ and a = {{ params.x }} ]]; to "
    "choose between pieces of SQL write {{ params.x | one_of(name: sql, name: sql) }}"
)
_FRAGMENTS = "write the SQL out, or include it by its name: ({{> name }})"
_CHARACTERS = "for the characters themselves write \\{%"
_REASONS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "if elif else endif unless case when",
        "conditions: all SQL is compiled and checked instead",
        _CHOICES,
    ),
    (
        "for endfor loop cycle",
        "loops: SQL does not depend on values",
        "for a list write in {{ name }}, or any({{ name | array }})",
    ),
    ("macro endmacro call endcall include import from extends block endblock", "macros and blocks", _FRAGMENTS),
    (
        "raw endraw verbatim endverbatim",
        "raw text: no value becomes SQL",
        f"write \\{{{{ for the characters {{{{; {_CHARACTERS}",
    ),
    (
        "set assign with endwith do capture",
        "assignments",
        "declare a parameter with a default, or write the expression into a `with` of SQL",
    ),
)


def statement_left_out(text: str, offset: int) -> tuple[str, str]:
    match = _STATEMENT.match(text, offset)
    word = match.group(1).lower() if match is not None else ""
    for words, what, fix in _REASONS:
        if word in words.split():
            return f"{{% {word} %}} is left out of the language on purpose, as are all {what}", fix
    return "{% … %} is left out of the language on purpose, as all statements are", f"{_CHOICES}; {_CHARACTERS}"


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
