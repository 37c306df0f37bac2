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
    """Collects the nodes and variables of a piece of SQL that begins at ``start``."""

    start: int
    clause: bool = False
    nodes: list[Node] = field(default_factory=list)
    references: list[VariableReference] = field(default_factory=list)
    text: list[Text] = field(default_factory=list)

    def flush(self) -> None:
        """Turn the collected SQL into Text nodes, one for each contiguous part of the source."""
        self.nodes += self.text
        self.text = []

    def write(self, sql: str, offset: int = -1) -> None:
        """Collect SQL. ``offset`` is its offset in the source, or -1 if it is not from the source."""
        last = self.text[-1] if self.text else None
        if last is not None and (offset < 0 or (last.offset >= 0 and last.offset + len(last.sql) == offset)):
            self.text[-1] = Text(last.sql + sql, last.offset)
        else:
            self.text.append(Text(sql, offset))

    def add(self, node: Node, before: str, after: str, opening: str, closing: str) -> None:
        """Add a node between the SQL ``opening`` and ``closing``. The template's characters next to the node,
        ``before`` and ``after``, decide where a space is added."""
        # If x is -1, `1-{{ x }}` must not become `1--1`, which contains a comment.
        choice = isinstance(node, Switch)
        if before and before not in (_NO_SPACE_BEFORE_CHOICE if choice else _NO_SPACE_BEFORE):
            self.write(" ")
        if opening:
            self.write(opening)
        self.flush()
        self.nodes.append(node)
        if closing:
            self.write(closing)
        if after and after not in (_NO_SPACE_AFTER_CHOICE if choice else _NO_SPACE_AFTER):
            self.write(" ")

    def as_clause(self, text: str, end: Lexeme) -> Clause:
        self.flush()
        before, after = text[self.start - 1 : self.start], text[end.end : end.end + 1]
        first, last = text[self.start + 2], text[end.start - 1]
        opening, closing = _space_between(before, first), _space_between(last, after)
        dropped = _space_between(before, after)
        return Clause(tuple(self.nodes), tuple(self.references), opening, closing, dropped, self.start, end.start)


def _space_between(before: str, after: str) -> str:
    return "" if before in _SPACES or after in _SPACES else " "
