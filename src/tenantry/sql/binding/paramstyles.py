"""Paramstyles: how placeholders are written (PEP 249, ``$1``, ``@p1``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import PlaceholderConflict

_CONFLICT = re.compile(r"\?|(?<![:\w$]):(?=\w)|(?<=\w):(?=\w)|@(?=\w)|(?<![\w$])\$(?=\w)|\{(?=\s*+\w+\s*+:)")
_FIXES = {
    "?": "name a variable, {{ name }}; for PostgreSQL's operator ? use jsonb_exists(), or another paramstyle",
    ":": "name a variable, {{ name }}; where the colon is SQL, write a space after it",
    "@": "name a variable: {{ name }}",
    "$": "name a variable: {{ name }}",
    "{": "name a variable: {{ name }}; for a map write map('key', value)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paramstyle:
    name: str
    placeholder: Callable[[int], str]
    """Returns the placeholder with a given number (from 1)."""
    named: bool = False
    """Whether the driver takes the parameters as a dict."""
    shares: bool = True
    """Whether the SQL may contain the same placeholder several times. If so, the engine can see that an expression such
    as ``date_trunc($1, at)`` is the same in ``select`` and in ``group by``."""
    doubles_percent: bool = False
    """Whether Tenantry doubles each ``%`` in the author's SQL."""
    markers: frozenset[str] = frozenset()
    """Characters in the author's SQL that a driver reads as placeholders."""

    def write(self, number: int, form: str) -> str:
        placeholder = self.placeholder(number)
        if not form:
            return placeholder
        return form.replace("{placeholder}", f"{placeholder} " if ":" in self.markers else placeholder)


PARAMSTYLES: Final[dict[str, Paramstyle]] = {
    style.name: style
    for style in (
        Paramstyle(name="qmark", placeholder=lambda n: "?", shares=False, markers=frozenset("?")),
        Paramstyle(name="numeric", placeholder=lambda n: f":{n}", markers=frozenset(":")),
        Paramstyle(name="named", placeholder=lambda n: f":p{n}", named=True, markers=frozenset(":")),
        Paramstyle(name="format", placeholder=lambda n: "%s", shares=False, doubles_percent=True),
        Paramstyle(name="pyformat", placeholder=lambda n: f"%(p{n})s", named=True, doubles_percent=True),
        Paramstyle(name="numeric_dollar", placeholder=lambda n: f"${n}", markers=frozenset("$")),
        Paramstyle(name="named_at", placeholder=lambda n: f"@p{n}", named=True, markers=frozenset("@")),
    )
}
"""The paramstyles by name. Their first placeholders are: qmark ``?``, numeric ``:1``, named ``:p1``, format ``%s``,
pyformat ``%(p1)s``, numeric_dollar ``$1``, named_at ``@p1``."""


def paramstyle_named(name: str) -> Paramstyle:
    """Raises ValueError for an unknown name."""
    try:
        return PARAMSTYLES[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no paramstyle {name!r}: give one of {', '.join(PARAMSTYLES)}") from None


def driver_params(
    style: Paramstyle, names: tuple[str, ...], params: tuple[Any, ...]
) -> tuple[Any, ...] | dict[str, Any] | None:
    given = dict(zip(names, params, strict=True)) if style.named else params
    return given or None if style.doubles_percent else given


def find_placeholder_conflicts(text: str, lexemes: Sequence[Lexeme]) -> tuple[PlaceholderConflict, ...]:
    braces = text.count("{") > 2 * text.count("{{")  # some braces are not those of tags
    if not braces and not any(character in text for character in "?:@$"):
        return ()
    code = (lexeme for lexeme in lexemes if lexeme.kind is LexemeKind.CODE)
    found = (match for each in code for match in _CONFLICT.finditer(text, each.start, each.end))
    return tuple(PlaceholderConflict(match.group(), match.start()) for match in found)


def check_placeholder_conflicts(
    source: Source, dialect: Dialect, style: Paramstyle, conflicts: Sequence[PlaceholderConflict]
) -> None:
    """Raise TemplateError for the first character that the engine or driver would read as a placeholder."""
    taken = style.markers | dialect.native_markers
    for conflict in conflicts:
        if conflict.character in taken:
            problem = f"{dialect.name} with paramstyle {style.name} takes this {conflict.character} for a placeholder"
            raise source.error(conflict.offset, problem, _FIXES[conflict.character])
