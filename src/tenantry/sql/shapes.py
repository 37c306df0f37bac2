"""Shapes: the SQL text for one combination of clauses kept and list lengths, rendered once and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock

from tenantry.errors import UnbindableValue
from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Clause, Composed, Members, Node, Text, Tree, Value
from tenantry.sql.paramstyles import Paramstyle

MOST_PARAMETERS = 32_766
"""Parameters of one statement: SQLite's default limit, and the smallest among the drivers (asyncpg has one more)."""
_KEPT_CHARACTERS = 4 * 1024 * 1024  # of text, for one template: a shape is a few kB, so a thousand of them

Shape = tuple[str, tuple[str, ...]]
"""The text, and the names of its parameters (for the named styles; else empty)."""


class Shapes:
    """The shapes of one template in one dialect and paramstyle. The same key gives the same ``str`` object.

    A key holds, in the order of the text, whether each clause is kept and the length of each list: never a value.
    """

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self.known: dict[tuple[int, ...], Shape] = {}
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._lock = Lock()
        self._characters = 0

    def shape(self, key: tuple[int, ...]) -> Shape:
        """Renders the text for a key and keeps it; the oldest ones make room."""
        with self._lock:
            known = self.known.get(key)
            if known is not None:
                return known
            shape = _Rendering(self._dialect, self._style, key).render(self._tree.nodes)
            self._characters += len(shape[0])
            while self.known and self._characters > _KEPT_CHARACTERS:
                self._characters -= len(self.known.pop(next(iter(self.known)))[0])
            self.known[key] = shape
            return shape


class _Rendering:
    def __init__(self, dialect: Dialect, style: Paramstyle, key: tuple[int, ...]) -> None:
        self._dialect = dialect
        self._style = style
        self._key = iter(key)
        self._count = 0
        self._longest = ("", 0)

    def render(self, nodes: Sequence[Node]) -> Shape:
        parts = list(self._parts(nodes, kept=True))
        if self._count > MOST_PARAMETERS:  # the tags after a list count too
            raise _too_many(self._longest[0])
        placed = self._count > 0
        text = "".join(
            part.replace("%", "%%") if placed and literal and self._style.doubles_percent else part
            for literal, part in parts
        )
        names = tuple(f"p{n}" for n in range(1, self._count + 1)) if self._style.named else ()
        return text, names

    def _parts(self, nodes: Sequence[Node], *, kept: bool) -> Iterator[tuple[bool, str]]:
        """Pairs: whether it is literal text, and the text. A dropped clause is walked too: the key has its numbers."""
        for node in nodes:
            if isinstance(node, Clause):
                keep = bool(next(self._key)) and kept
                if kept:
                    yield True, node.opening if keep else node.dropped
                yield from self._parts(node.children, kept=keep)
                if keep:
                    yield True, node.closing
            elif isinstance(node, Members):
                length = next(self._key)
                if kept:
                    yield from self._members(node, length)
            elif kept and isinstance(node, Text):
                yield True, node.sql
            elif kept and isinstance(node, Value | Composed):
                yield False, self._placeholder()

    def _members(self, node: Members, length: int) -> Iterator[tuple[bool, str]]:
        if length == 0:
            yield True, self._dialect.not_in_nothing if node.negated else self._dialect.in_nothing
            return
        if self._count + length > MOST_PARAMETERS:  # before the text grows
            raise _too_many(node.hole.path)
        self._longest = max(self._longest, (node.hole.path, length), key=lambda item: item[1])
        yield True, f"{node.operator} ("
        numbers = range(self._count + 1, self._count + length + 1)
        self._count += length
        yield False, ", ".join(map(self._style.placeholder, numbers))
        yield True, ")"

    def _placeholder(self) -> str:
        self._count += 1
        return self._style.placeholder(self._count)


def _too_many(path: str) -> UnbindableValue:
    return UnbindableValue(f"{path}: a statement has at most {MOST_PARAMETERS} parameters", name=path)
