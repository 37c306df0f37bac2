"""Paramstyles: how a driver wants a placeholder written, and its parameters handed over (PEP 249, and ``$1``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Mark
from tenantry.sql.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Paramstyle:
    """``placeholder`` writes the n-th one, from 1: one number an occurrence, since ``$1`` cannot have two types."""

    name: str
    placeholder: Callable[[int], str]
    named: bool = False
    doubles_percent: bool = False
    marks: frozenset[str] = frozenset()
    """Characters in the author's SQL that a driver of this style takes for its placeholders."""


PARAMSTYLES: Final[dict[str, Paramstyle]] = {
    style.name: style
    for style in (
        Paramstyle(name="qmark", placeholder=lambda n: "?", marks=frozenset("?")),
        Paramstyle(name="numeric", placeholder=lambda n: f":{n}", marks=frozenset(":")),
        Paramstyle(name="named", placeholder=lambda n: f":p{n}", named=True, marks=frozenset(":")),
        Paramstyle(name="format", placeholder=lambda n: "%s", doubles_percent=True),
        Paramstyle(name="pyformat", placeholder=lambda n: f"%(p{n})s", named=True, doubles_percent=True),
        Paramstyle(name="numeric_dollar", placeholder=lambda n: f"${n}", marks=frozenset("$")),
    )
}
"""The paramstyles by name: qmark ``?``, numeric ``:1``, named ``:p1``, format ``%s``, pyformat ``%(p1)s`` and
numeric_dollar ``$1``."""


def paramstyle_named(name: str) -> Paramstyle:
    """The paramstyle of this name. Raises ValueError that lists the names."""
    try:
        return PARAMSTYLES[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no paramstyle {name!r}: give one of {', '.join(PARAMSTYLES)}") from None


def refuse_marks(source: Source, dialect: Dialect, style: Paramstyle, marks: tuple[Mark, ...]) -> None:
    """Raises TemplateError for the first mark that the engine or the driver would take for a placeholder."""
    taken = style.marks | dialect.raw_marks
    for mark in marks:
        if mark.character in taken:
            problem = f"{dialect.name} with paramstyle {style.name} takes this {mark.character} for a placeholder"
            raise source.error(mark.offset, problem, _FIXES[mark.character])


_FIXES = {
    "?": "name a variable, {{ name }}; for PostgreSQL's operator ? use jsonb_exists(), or another paramstyle",
    ":": "name a variable, {{ name }}; where the colon is SQL, write a space after it",
    "@": "name a variable: {{ name }}",
    "$": "name a variable: {{ name }}",
}
