"""Levels: the nodes of a template, of an optional clause or of a branch while they are read, and the space between."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenantry.sql.lexing.lexemes import Lexeme
from tenantry.sql.syntax_tree import Clause, Node, Switch, Text, VariableReference

_SPACES = frozenset(" \t\r\n") | {""}
_NO_SPACE_BEFORE = frozenset(" \t\r\n(,")
_NO_SPACE_AFTER = frozenset(" \t\r\n),;")
_NO_SPACE_BEFORE_CHOICE = _NO_SPACE_BEFORE | {"."}  # t.{{ column }}
_NO_SPACE_AFTER_CHOICE = _NO_SPACE_AFTER | {".", "("}  # {{ schema }}.orders, {{ function }}(amount)


@dataclass(slots=True)
class OpenNode:
    """The template itself, an optional clause that is still open at ``start``, or a branch of a Switch."""

    start: int
    clause: bool = False
    nodes: list[Node] = field(default_factory=list)
    references: list[VariableReference] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def flush(self) -> None:
        """Makes a node of the text so far."""
        if self.text:
            self.nodes.append(Text("".join(self.text)))
            self.text = []

    def add(self, node: Node, before: str, after: str, opening: str, closing: str) -> None:
        """Adds a placeholder, with a space on either side where the text has none: ``1-{{ x }}`` is no comment.

        ``before`` and ``after`` are the template's characters beside it, ``opening`` and ``closing`` the SQL around it.
        """
        choice = isinstance(node, Switch)
        if before and before not in (_NO_SPACE_BEFORE_CHOICE if choice else _NO_SPACE_BEFORE):
            self.text.append(" ")
        if opening:
            self.text.append(opening)
        self.flush()
        self.nodes.append(node)
        if closing:
            self.text.append(closing)
        if after and after not in (_NO_SPACE_AFTER_CHOICE if choice else _NO_SPACE_AFTER):
            self.text.append(" ")

    def as_clause(self, text: str, end: Lexeme) -> Clause:
        """The optional clause that this level is, closed by the lexeme ``end`` of the template's text."""
        self.flush()
        before, after = text[self.start - 1 : self.start], text[end.end : end.end + 1]
        first, last = text[self.start + 2], text[end.start - 1]
        opening, closing = _space_between(before, first), _space_between(last, after)
        dropped = _space_between(before, after)
        return Clause(tuple(self.nodes), tuple(self.references), opening, closing, dropped, self.start, end.start)


def _space_between(before: str, after: str) -> str:
    """The space that two characters need between them, if neither is one."""
    return "" if before in _SPACES or after in _SPACES else " "
