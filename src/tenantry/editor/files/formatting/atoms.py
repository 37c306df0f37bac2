"""Splits a template into atoms and groups of atoms. Formatting does not change an atom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tenantry.errors import InvalidBody
from tenantry.sql.inspect import Dialect, LexemeKind, Source, lex

MAX_DEPTH: Final = 100
"""Maximum nesting of brackets and case expressions."""
_PIECE: Final = re.compile(r"[^\W\d][\w$]*|\d[\w.]*|[(),;]|[^\s\w(),;]+")
_INCLUDE: Final = re.compile(r"\{\{\s*>[^{}]*\}\}")
_STRINGS: Final = frozenset({LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING})


@dataclass(slots=True)
class Atom:
    text: str
    word: str = ""
    """The text in lower case, if it is a word of SQL or one of ``( ) , [[ ]]``."""
    is_spaced: bool = False
    """Whether white space precedes the atom."""
    is_comment: bool = False
    begins_line: bool = False
    """Whether the atom must begin a line: a comment without SQL before it, or a string that continues the string on the
    line before."""
    ends_line: bool = False
    """Whether the atom must end its line: a comment that ends with the line, such as ``-- …``, or a comment alone on
    its line."""
    is_apart: bool = False
    """Whether an empty line precedes the atom."""


@dataclass(slots=True)
class Group:
    """A pair of brackets, or ``case`` and ``end``, with the nodes between them."""

    opening: Atom
    nodes: list[Node] = field(default_factory=list)
    closing: Atom | None = None
    flat: str | None = None
    """The text after ``opening``, on one line. None: it needs several lines, or was not computed yet."""

    @property
    def is_query(self) -> bool:
        first = next((each for each in self.nodes if not (isinstance(each, Atom) and each.is_comment)), None)
        if isinstance(first, Group):
            return first.opening.word == "(" and first.is_query
        return self.opening.word == "(" and first is not None and first.word in {"select", "with", "values"}


Node: TypeAlias = Atom | Group

_CLOSING: Final = {"(": ")", "[[": "]]", "case": "end"}


def atoms_of(text: str, dialect: Dialect, file: str = "") -> list[Atom]:
    """Split ``text`` into atoms. Raises TemplateError for a string, comment or tag that is not closed."""
    masked = _INCLUDE.sub(lambda found: "{{" + "x" * (len(found.group()) - 4) + "}}", text)
    atoms: list[Atom] = []
    end, before = 0, LexemeKind.CODE
    for kind, start, stop in _pieces(Source(masked, file), dialect):
        white, piece = text[end:start], text[start:stop]
        is_comment = kind is LexemeKind.COMMENT
        if white and atoms and atoms[-1].is_comment:
            atoms[-1].ends_line |= "\n" in white and (atoms[-1].begins_line or not atoms[-1].text.startswith("/*"))
        joins = kind in _STRINGS and before in _STRINGS  # SQL joins two strings only across lines
        is_word = kind in {LexemeKind.CODE, LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END}
        atoms.append(
            Atom(
                piece.rstrip() if is_comment else piece,
                piece.lower() if is_word else "",
                is_spaced=bool(white),
                is_comment=is_comment,
                begins_line=(is_comment or joins) and ("\n" in white or not atoms),
                ends_line=is_comment and piece.endswith("\n"),
                is_apart=white.count("\n") > 1,
            )
        )
        end, before = stop, kind
    return atoms


def _pieces(source: Source, dialect: Dialect) -> Iterator[tuple[LexemeKind, int, int]]:
    left = skipped = 0  # open brackets of arrays; offset until which the text is read
    for lexeme in lex(source, dialect):
        kind, start, end = lexeme.kind, lexeme.start, lexeme.end
        if kind is LexemeKind.CODE:
            for found in _PIECE.finditer(source.text, start, end):
                yield kind, found.start(), found.end()
            continue
        if kind is LexemeKind.LEFT_BRACKET:
            left += end - start
        elif kind is LexemeKind.RIGHT_BRACKET and left:
            left -= 1
        elif kind is LexemeKind.RIGHT_BRACKET and source.text.startswith("]]", start):
            kind, end = LexemeKind.CLAUSE_END, start + 2  # the lexer leaves it to the parser to join both brackets
        if start >= skipped and start < end:
            yield kind, start, end
            skipped = end


def grouped(atoms: Sequence[Atom]) -> list[Node]:
    """Group the atoms in brackets and in case expressions. Raises InvalidBody if groups are nested deeper than
    MAX_DEPTH."""
    root: list[Node] = []
    open_groups: list[Group] = []
    for atom in atoms:
        nodes = open_groups[-1].nodes if open_groups else root
        if atom.word in _CLOSING:
            if len(open_groups) == MAX_DEPTH:
                raise InvalidBody(
                    f"a query with more than {MAX_DEPTH} levels of brackets is not formatted", field="/text"
                )
            nodes.append(group := Group(atom))
            open_groups.append(group)
            continue
        closes = [at for at, group in enumerate(open_groups) if _CLOSING[group.opening.word] == atom.word]
        if closes and (atom.word != "end" or closes[-1] == len(open_groups) - 1):
            open_groups[closes[-1]].closing = atom
            del open_groups[closes[-1] :]
        else:
            nodes.append(atom)
    return root
