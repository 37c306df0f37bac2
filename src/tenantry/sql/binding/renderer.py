from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from threading import Lock
from typing import TypeAlias

from tenantry.errors import UnbindableValue
from tenantry.sql.binding.paramstyles import Paramstyle
from tenantry.sql.dialects import Dialect
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Switch,
    Text,
    Tree,
    Value,
    placeholder_key,
)

_CACHED_CHARACTERS = 4 * 1024 * 1024  # characters for one template: about a thousand statements

RenderedSQL: TypeAlias = tuple[str, tuple[str, ...]]
"""The SQL, and the names of its parameters. Only named paramstyles have names."""


class Renderer:
    """Renders a template in one dialect and paramstyle, and caches the SQL by key.

    A key has one number for each clause (1 if the clause is included, otherwise 0), for each Switch (the number of the
    chosen branch) and for each list (the number of items).
    """

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self.cached: dict[tuple[int, ...], RenderedSQL] = {}
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._lock = Lock()
        self._characters = 0

    def render(self, key: tuple[int, ...]) -> RenderedSQL:
        """Return the SQL with the clauses, branches and list lengths of ``key``. Raises TemplateError for a guarded
        template whose SQL cannot be proved to read only the group's rows, and UnbindableValue for too many
        parameters."""
        with self._lock:
            rendered = self.cached.get(key)
            if rendered is not None:
                return rendered
            if self._tree.prove is not None:
                self._tree.prove(key)
            rendered = _Rendering(self._dialect, self._style, key).run(self._tree.nodes)
            self._characters += len(rendered[0])
            while self.cached and self._characters > _CACHED_CHARACTERS:
                self._characters -= len(self.cached.pop(next(iter(self.cached)))[0])
            self.cached[key] = rendered
            return rendered

    def parameter_nodes(self, key: tuple[int, ...]) -> Sequence[Value | Concat | InList]:
        rendering = _Rendering(self._dialect, self._style, key)
        rendering.run(self._tree.nodes)
        return rendering.nodes


class _Rendering:
    def __init__(self, dialect: Dialect, style: Paramstyle, key: tuple[int, ...]) -> None:
        self._dialect = dialect
        self._style = style
        self._key = iter(key)
        self._count = 0
        self._numbers: dict[Hashable, int] = {}  # placeholder key → its first parameter
        self._longest = ("", 0)
        self.nodes: list[Value | Concat | InList] = []  # the node of each parameter

    def run(self, nodes: Sequence[Node]) -> RenderedSQL:
        parts = list(self._parts(nodes, included=True))
        if self._count > self._dialect.max_parameters:  # checked here too, because tags may follow the last list
            raise self._too_many(self._longest[0])
        text = "".join(
            part.replace("%", "%%") if self._count and literal and self._style.doubles_percent else part
            for literal, part in parts
        )
        names = tuple(f"p{n}" for n in range(1, self._count + 1)) if self._style.named else ()
        return text, names

    def _parts(self, nodes: Sequence[Node], *, included: bool) -> Iterator[tuple[bool, str]]:
        for node in nodes:
            if isinstance(node, Clause):
                included_here = bool(next(self._key)) and included
                if included:
                    yield True, node.opening if included_here else node.dropped
                yield from self._parts(node.children, included=included_here)
                if included_here:
                    yield True, node.closing
            elif isinstance(node, Switch):
                chosen = next(self._key)
                for index, branch in enumerate(node.branches):
                    yield from self._parts(branch, included=included and index == chosen)
            elif isinstance(node, InList):
                length = next(self._key)
                if included:
                    yield from self._in_list(node, length)
            elif included:
                yield self._plain(node)

    def _plain(self, node: Text | Value | Concat) -> tuple[bool, str]:
        if isinstance(node, Text):
            return True, node.sql
        key = placeholder_key(node) if self._style.shares else None
        number = self._numbers.get(key)
        if number is None:
            self._count += 1
            self.nodes.append(node)
            number = self._count
            if key is not None:
                self._numbers[key] = number
        return False, self._style.write(number, node.form if isinstance(node, Concat) else node.reference.form)

    def _in_list(self, node: InList, length: int) -> Iterator[tuple[bool, str]]:
        if length == 0:
            yield True, self._dialect.empty_not_in if node.negated else self._dialect.empty_in
            return
        key = placeholder_key(node) if self._style.shares else None
        first = self._numbers.get(key)
        if first is None:
            first = self._count + 1
            if self._count + length > self._dialect.max_parameters:  # checked before the SQL grows
                raise self._too_many(node.reference.path)
            self._longest = max(self._longest, (node.reference.path, length), key=lambda item: item[1])
            self._count += length
            self.nodes += [node] * length
            if key is not None:
                self._numbers[key] = first
        yield True, f"{node.operator} ("
        numbers = range(first, first + length)
        yield False, ", ".join(self._style.write(each, node.reference.form) for each in numbers)
        yield True, ")"

    def _too_many(self, path: str) -> UnbindableValue:
        most = self._dialect.max_parameters
        return UnbindableValue(f"{path}: a statement has at most {most} parameters", name=path)
