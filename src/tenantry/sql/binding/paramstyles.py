"""Paramstyles: how a driver wants placeholders written and their parameters given (PEP 249, ``$1`` and ``@p1``).

Also BoundSQL, which is both in one, and what in the author's own SQL a driver could take for a placeholder (``?``,
``:name``, ``@name``, ``$1``).
"""

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
_BRACKET = re.compile(r"[\[\](){}]")
_LOOKBACK = 2_000  # characters to look back for the bracket that makes a colon a slice
_FIXES = {
    "?": "name a variable, {{ name }}; for PostgreSQL's operator ? use jsonb_exists(), or another paramstyle",
    ":": "name a variable, {{ name }}; where the colon is SQL, write a space after it",
    "@": "name a variable: {{ name }}",
    "$": "name a variable: {{ name }}",
    "{": "name a variable: {{ name }}; for a map write map('key', value)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paramstyle:
    """``placeholder`` writes the n-th one, from 1.

    ``shares``: one placeholder can be written several times, so that a variable has one in all of a statement. An
    engine then holds ``date_trunc($1, at)`` in ``select`` and in ``group by`` for one expression.
    """

    name: str
    placeholder: Callable[[int], str]
    named: bool = False
    shares: bool = True
    doubles_percent: bool = False
    markers: frozenset[str] = frozenset()
    """Characters in the author's SQL that a driver of this style takes for its placeholders."""

    def write(self, number: int, form: str) -> str:
        """The placeholder in a form with ``{placeholder}`` in it; alone where the form is empty. SQLAlchemy's ``text``
        does not take ``:p1::date`` for a placeholder."""
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
"""The paramstyles by name: qmark ``?``, numeric ``:1``, named ``:p1``, format ``%s``, pyformat ``%(p1)s``,
numeric_dollar ``$1`` and named_at ``@p1``."""


def paramstyle_named(name: str) -> Paramstyle:
    """The paramstyle of this name. Raises ValueError that lists the names."""
    try:
        return PARAMSTYLES[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no paramstyle {name!r}: give one of {', '.join(PARAMSTYLES)}") from None


def driver_params(
    style: Paramstyle, names: tuple[str, ...], params: tuple[Any, ...]
) -> tuple[Any, ...] | dict[str, Any] | None:
    """The parameters as a driver of this style wants them."""
    given = dict(zip(names, params, strict=True)) if style.named else params
    return given or None if style.doubles_percent else given


def find_placeholder_conflicts(
    text: str, lexemes: Sequence[Lexeme]
) -> tuple[tuple[PlaceholderConflict, ...], tuple[int, ...]]:
    """The characters in a text that some drivers take for a placeholder; and the offsets of colons in slices
    (``a[1:n]``), which are none."""
    braces = text.count("{") > 2 * text.count("{{")  # not those of tags alone
    if not braces and not any(character in text for character in "?:@$"):
        return (), ()
    conflicts: list[PlaceholderConflict] = []
    slices: list[int] = []
    for index, lexeme in enumerate(lexemes):
        if lexeme.kind is not LexemeKind.CODE:
            continue
        for match in _CONFLICT.finditer(text, lexeme.start, lexeme.end):
            if match.group() == ":" and _in_slice(text, lexemes, index, match.start()):
                slices.append(match.start())
            else:
                conflicts.append(PlaceholderConflict(match.group(), match.start()))
    return tuple(conflicts), tuple(slices)


def check_placeholder_conflicts(
    source: Source, dialect: Dialect, style: Paramstyle, conflicts: Sequence[PlaceholderConflict]
) -> None:
    """Raises TemplateError for the first character that the engine or the driver would take for a placeholder."""
    taken = style.markers | dialect.native_markers
    for conflict in conflicts:
        if conflict.character in taken:
            problem = f"{dialect.name} with paramstyle {style.name} takes this {conflict.character} for a placeholder"
            raise source.error(conflict.offset, problem, _FIXES[conflict.character])


def _in_slice(text: str, lexemes: Sequence[Lexeme], index: int, offset: int) -> bool:
    """Whether the innermost bracket that is open at ``offset`` is square, or the curly one of a struct."""
    depth = 0
    farthest = offset - _LOOKBACK
    for at in range(index, -1, -1):
        lexeme = lexemes[at]
        if lexeme.end < farthest:
            return False
        if lexeme.kind not in {LexemeKind.CODE, LexemeKind.LEFT_BRACKET, LexemeKind.RIGHT_BRACKET}:
            continue
        for match in reversed(list(_BRACKET.finditer(text, max(lexeme.start, farthest), min(lexeme.end, offset)))):
            depth += 1 if match.group() in ")]}" else -1
            if depth < 0:
                return match.group() in "[{"
    return False
