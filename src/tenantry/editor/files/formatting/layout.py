"""Lays out the SQL of a query. It changes only white space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenantry.editor.files.formatting.atoms import Atom, Group, Node, atoms_of, grouped
from tenantry.editor.files.formatting.clauses import (
    CONDITIONS,
    LISTS,
    alternatives,
    clauses,
    conditions,
    first_atom,
    items,
)
from tenantry.sql import MAX_TEXT
from tenantry.sql.inspect import Dialect

WIDTH: Final = 100
"""A line with more characters is broken, if possible."""
_SHORT: Final = 60
"""Maximum characters of a subquery on one line."""
_INDENT: Final = 4
_PASSES: Final = 4  # a comment that moves to another line may change the next layout


def format_query(text: str, dialect: Dialect, file: str = "") -> str | None:
    """Return the query in a layout that stays the same when it is formatted again. Return None if four attempts find no
    such layout, if the text would be too long, or if formatting would change the query's lexemes.

    ``file``: the path that errors show. Raises TemplateError for SQL that cannot be read, and InvalidBody for too many
    levels of brackets.
    """
    atoms = atoms_of(text, dialect, file)
    texts = [each.text for each in atoms]
    for _ in range(_PASSES):
        layout = _Layout()
        layout.query(grouped(atoms), 0)
        before, text = text, layout.text()
        if text == before:
            return text
        if len(text) > MAX_TEXT:
            return None
        atoms = atoms_of(text, dialect, file)
        if [each.text for each in atoms] != texts:
            return None
    return None


class _Layout:
    def __init__(self) -> None:
        self._lines: list[str] = [""]
        self._is_pending = False  # a comment ended the line
        self._before: Atom | None = None

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines).strip("\n") + "\n"

    def query(self, nodes: Sequence[Node], indent: int) -> None:
        for number, (keywords, body) in enumerate(clauses(nodes)):
            if number:
                self._newline(indent, [*keywords, *body])
            self._clause(keywords, body, indent)

    def _clause(self, keywords: list[Node], body: list[Node], indent: int) -> None:
        words = [first_atom(each).word for each in keywords]
        kind = next((word for word in words if word in LISTS | CONDITIONS), words[0] if words else "")
        has_options = kind in CONDITIONS and any(first_atom(each).word == "[[" for each in body)
        if kind != "with" and not has_options and self._fits([*keywords, *body]):
            self._sequence([*keywords, *body], indent)
            return
        self._sequence(keywords, indent)
        if kind == "with":
            for number, item in enumerate(items(body)):
                if number:
                    self._newline(indent, item)
                self._sequence(item, indent)
        elif kind in CONDITIONS:
            self._conditions(body, indent)
        elif kind in LISTS and len(items(body)) > 1:
            self._items(body, indent + _INDENT)
        else:
            self._sequence(body, indent)

    def _conditions(self, nodes: Sequence[Node], indent: int) -> None:
        for number, part in enumerate(conditions(nodes)):
            if number:
                self._newline(indent + _INDENT)
            self._sequence(part, indent + _INDENT if number else indent)

    def _items(self, nodes: Sequence[Node], indent: int) -> None:
        for item in items(nodes):
            self._newline(indent)
            self._sequence(item, indent)

    def _sequence(self, nodes: Sequence[Node], indent: int) -> None:
        for node in nodes:
            atom = first_atom(node)
            if self._is_pending or (atom.begins_line and self._lines[-1].strip()):
                self._newline(indent, [node] if atom.is_comment else [])
            self._lines[-1] += self._space(atom)
            if isinstance(node, Group):
                self._group(node, indent)
            else:
                self._write(node)

    def _group(self, group: Group, indent: int) -> None:
        flat = _flat([group])
        is_long = group.is_query and flat is not None and len(flat) > _SHORT
        if flat is not None and not is_long and len(self._lines[-1]) + len(flat) <= WIDTH:
            self._lines[-1] += flat
            self._before = group.closing or group.opening
            return
        self._write(group.opening)
        inner = indent + _INDENT
        if group.opening.word == "case":
            for number, part in enumerate(alternatives(group.nodes)):
                if number:
                    self._newline(inner)
                self._sequence(part, inner)
        elif group.opening.word == "[[":
            self._conditions(group.nodes, indent)
        elif group.is_query:
            self._newline(inner)
            self.query(group.nodes, inner)
        else:
            self._items(group.nodes, inner)
        if group.closing is not None:
            if group.opening.word != "[[" or self._is_pending:
                self._newline(indent)
            self._lines[-1] += self._space(group.closing)
            self._write(group.closing)

    def _write(self, atom: Atom) -> None:
        *lines, last = atom.text.split("\n")
        for line in lines:
            self._lines[-1] += line
            self._lines.append("")
        self._lines[-1] += last
        self._before, self._is_pending = atom, atom.is_comment and atom.ends_line

    def _newline(self, indent: int, nodes: Sequence[Node] = ()) -> None:
        """Begin a line. If the text has an empty line before ``nodes``, keep it."""
        self._is_pending = False
        if nodes and first_atom(nodes[0]).is_apart and self._lines[-1].strip():
            self._lines.append("")
        if self._lines[-1].strip() or nodes:
            self._lines.append("")
        self._lines[-1] = " " * indent
        self._before = None

    def _space(self, atom: Atom) -> str:
        return _space(self._before, atom)

    def _fits(self, nodes: Sequence[Node]) -> bool:
        flat = _flat(nodes)
        has_long_query = any(
            isinstance(each, Group) and each.is_query and len(_flat([each]) or "") > _SHORT for each in nodes
        )
        return flat is not None and not has_long_query and len(self._lines[-1]) + len(flat) <= WIDTH


def _space(before: Atom | None, atom: Atom) -> str:
    if before is None or before.word == "(" or atom.word in {")", ","}:
        return ""
    return " " if before.word == "," or atom.is_spaced or atom.word in {"[[", "]]"} or before.word == "[[" else ""


def _flat(nodes: Sequence[Node]) -> str | None:
    """Return the nodes on one line, or None if a comment or a string needs several lines."""
    parts: list[str] = []
    before: Atom | None = None
    for node in nodes:
        atom = first_atom(node)
        if atom.ends_line or atom.begins_line or "\n" in atom.text:
            return None
        parts += _space(before, atom), atom.text
        before = atom
        if isinstance(node, Group):
            if node.flat is None:
                inner = _flat(node.nodes)
                if inner is None:
                    return None
                first = _space(atom, first_atom(node.nodes[0])) if node.nodes else ""
                last = _last(node.nodes[-1]) if node.nodes else atom
                closing = node.closing
                node.flat = first + inner + ("" if closing is None else _space(last, closing) + closing.text)
            parts.append(node.flat)
            before = node.closing or atom
    return "".join(parts)


def _last(node: Node) -> Atom:
    return (node.closing or node.opening) if isinstance(node, Group) else node
