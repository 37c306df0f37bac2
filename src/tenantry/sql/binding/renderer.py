"""Renderer: the SQL text for one combination of included clauses, chosen branches and list lengths, rendered once and
cached.

Interpreter: binding node by node, for whatever the generated function does not take: refusals and rare types. This is
the meaning of a template; the generated function is the same for the common case, and faster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any, TypeAlias

from tenantry.errors import InvalidParameter, MissingVariable, UnbindableValue
from tenantry.groups import Record, RecordList
from tenantry.sql.binding.conversions import converter
from tenantry.sql.binding.paramstyles import BoundSQL, Paramstyle, TracedSQL, driver_params
from tenantry.sql.binding.values import UNREADABLE, as_text, check_scalar, is_absent, list_items, look_up, type_name
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Position,
    Switch,
    Text,
    Tree,
    Value,
    VariableReference,
    placeholder_key,
    references_in,
)
from tenantry.sql.tenant_guard import Guard, is_viewer_input, reads_group

_CACHED_CHARACTERS = 4 * 1024 * 1024  # of one template: a text is a few kB, so a thousand of them

RenderedSQL: TypeAlias = tuple[str, tuple[str, ...]]
"""The text, and the names of its parameters (for the named styles; else empty)."""


class Renderer:
    """Renders the texts of one template in one dialect and paramstyle. The same key gives the same ``str`` object.

    A key holds, in the order of the text, whether each clause is included, the branch of each Switch and the length of
    each list: never a value.
    ``cached`` are the texts so far.
    """

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self.cached: dict[tuple[int, ...], RenderedSQL] = {}
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._lock = Lock()
        self._characters = 0

    def render(self, key: tuple[int, ...]) -> RenderedSQL:
        """The text for a key, rendered once. The oldest texts are dropped when all together grow too long."""
        with self._lock:
            rendered = self.cached.get(key)
            if rendered is not None:
                return rendered
            rendered = _Rendering(self._dialect, self._style, key).run(self._tree.nodes)
            self._characters += len(rendered[0])
            while self.cached and self._characters > _CACHED_CHARACTERS:
                self._characters -= len(self.cached.pop(next(iter(self.cached)))[0])
            self.cached[key] = rendered
            return rendered


class _Rendering:
    def __init__(self, dialect: Dialect, style: Paramstyle, key: tuple[int, ...]) -> None:
        self._dialect = dialect
        self._style = style
        self._key = iter(key)
        self._count = 0
        self._numbers: dict[Hashable, int] = {}  # of what may be written again: its first parameter
        self._longest = ("", 0)

    def run(self, nodes: Sequence[Node]) -> RenderedSQL:
        """The text of the nodes. Raises UnbindableValue for too many parameters."""
        parts = list(self._parts(nodes, included=True))
        if self._count > self._dialect.max_parameters:  # the tags after a list count too
            raise self._too_many(self._longest[0])
        text = "".join(
            part.replace("%", "%%") if self._count and literal and self._style.doubles_percent else part
            for literal, part in parts
        )
        names = tuple(f"p{n}" for n in range(1, self._count + 1)) if self._style.named else ()
        return text, names

    def _parts(self, nodes: Sequence[Node], *, included: bool) -> Iterator[tuple[bool, str]]:
        """Pairs: whether it is literal text, and the text. A dropped clause is read too: the key has its numbers."""
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
            if self._count + length > self._dialect.max_parameters:  # before the text grows
                raise self._too_many(node.reference.path)
            self._longest = max(self._longest, (node.reference.path, length), key=lambda item: item[1])
            self._count += length
            if key is not None:
                self._numbers[key] = first
        yield True, f"{node.operator} ("
        numbers = range(first, first + length)
        yield False, ", ".join(self._style.write(each, node.reference.form) for each in numbers)
        yield True, ")"

    def _too_many(self, path: str) -> UnbindableValue:
        most = self._dialect.max_parameters
        return UnbindableValue(f"{path}: a statement has at most {most} parameters", name=path)


class Interpreter:
    """Binds one template in one dialect and paramstyle, and raises the errors that name each variable at fault.

    ``renderer`` has its texts, which the generated function shares.
    """

    def __init__(self, source: Source, tree: Tree, dialect: Dialect, style: Paramstyle, guard: Guard) -> None:
        self.renderer: Renderer = Renderer(tree, dialect, style)
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._reader = _VariableReader(source, tree, dialect, guard)
        self._read: dict[Position, Callable[[Any, VariableReference], Any]] = {
            Position.VALUE: self._reader.scalar,
            Position.TEXT: self._reader.text,
            Position.PATTERN: self._reader.scalar,
            Position.LIMIT: self._reader.limit,
        }

    def bind(self, variables: Any) -> BoundSQL:
        """Raises MissingVariable for all variables without a value, else UnbindableValue for the first bad one."""
        return self._bind(variables)[0]

    def trace(self, variables: Any) -> TracedSQL:
        """The same, with where each parameter comes from."""
        bound, nodes = self._bind(variables)
        return TracedSQL(bound, tuple(tuple(references_in([node])) for node in nodes))

    def _bind(self, variables: Any) -> tuple[BoundSQL, Sequence[Node]]:
        self._reader.require(variables, self._needed(self._tree.nodes, variables))
        key: list[int] = []
        params = _Params(self._style)
        self._bind_nodes(self._tree.nodes, variables, key, params, included=True)
        sql, names = self.renderer.render(tuple(key))
        given = driver_params(self._style, names, tuple(params.values))
        return BoundSQL(sql, given, self._style.name, self._dialect.name, reads_group(self._tree)), params.nodes

    def _bind_nodes(
        self, nodes: Sequence[Node], variables: Any, key: list[int], params: _Params, *, included: bool
    ) -> None:
        for node in nodes:
            if isinstance(node, Clause):
                included_here = included and _is_included(node, variables)
                key.append(included_here)
                self._bind_nodes(node.children, variables, key, params, included=included_here)
            elif isinstance(node, Switch):
                chosen = self._reader.choice(variables, node) if included else 0
                key.append(chosen)
                for index, branch in enumerate(node.branches):
                    self._bind_nodes(branch, variables, key, params, included=included and index == chosen)
            elif isinstance(node, InList):
                items = self._reader.items(variables, node.reference) if included else ()
                key.append(len(items))
                if included:
                    params.add(node, items)
            elif included and isinstance(node, Value):
                params.add(node, [self._read[node.reference.position](variables, node.reference)])
            elif included and isinstance(node, Concat):
                parts = (part if isinstance(part, str) else self._reader.text(variables, part) for part in node.parts)
                params.add(node, ["".join(parts)])

    def _needed(self, nodes: Sequence[Node], variables: Any) -> Iterator[VariableReference]:
        """What has to have a value because its branch is chosen."""
        for node in nodes:
            if isinstance(node, Clause) and _is_included(node, variables):
                yield from self._needed(node.children, variables)
            elif isinstance(node, Switch):
                value = look_up(variables, node.reference.path)
                if is_absent(value) and not node.reference.never_absent:
                    continue
                branch = node.branches[self._reader.choice(variables, node)]
                yield from (reference for reference in references_in(branch) if not reference.never_absent)
                yield from self._needed(branch, variables)


def _is_included(node: Clause, variables: Any) -> bool:
    """Whether everything has a value that the clause depends on."""
    return not any(
        is_absent(look_up(variables, reference.path)) for reference in node.references if not reference.never_absent
    )


class _Params:
    """The parameters so far, in the order in which the renderer numbers them."""

    def __init__(self, style: Paramstyle) -> None:
        self.values: list[Any] = []
        self.nodes: list[Node] = []  # of each value
        self._shares = style.shares
        self._seen: set[Hashable] = set()

    def add(self, node: Value | Concat | InList, values: Sequence[Any]) -> None:
        """Adds the parameters of a node, unless one placeholder stands for it and an earlier one."""
        key = placeholder_key(node)
        if not self._shares or key not in self._seen:
            self.values += values
            self.nodes += [node] * len(values)
            self._seen.add(key)


class _VariableReader:
    """Reads and checks the variables of one template; errors name the path and the location of what they refuse."""

    def __init__(self, source: Source, tree: Tree, dialect: Dialect, guard: Guard) -> None:
        self._source = source
        self._dialect = dialect
        self._guard = guard
        self._required = [reference for reference in tree.references if reference.required]

    def require(self, variables: Any, needed: Iterable[VariableReference]) -> None:
        """Raises the one MissingVariable that lists every path that has no value, with its location."""
        if not isinstance(variables, Mapping | Record):
            raise TypeError(f"variables must be a mapping, not {type(variables).__name__}")
        missing: dict[str, str] = {}
        for reference in chain(self._required, needed):
            value = look_up(variables, reference.path)
            if is_absent(value):
                at = f"{self._source.location(reference.offset)}"
                state = "null" if value is None else "missing"
                meant = self._guard.meant(reference.path)
                at += f", did you mean {meant}?" if meant is not None else ""
                missing[reference.path] = (
                    f"{missing[reference.path]}, {at}" if reference.path in missing else f"{state} at {at}"
                )
        if missing:
            listed = "; ".join(f"{path} ({state})" for path, state in missing.items())
            fix = "".join(f"Write {{{{ {path} }}}}. " for path in filter(None, map(self._guard.meant, missing)))
            raise MissingVariable(
                f"variables without a value: {listed}. {fix}Give each of them a value; what a viewer may leave out is "
                "a params.* in [[ ]]",
                names=tuple(missing),
            )

    def choice(self, variables: Any, node: Switch) -> int:
        """The number of the branch that the value chooses."""
        value = look_up(variables, node.reference.path)
        try:
            return node.choose(None if is_absent(value) else value)
        except UNREADABLE:
            path = node.reference.path
            problem = f"{path} at {self._source.location(node.reference.offset)}: give {node.expected}"
            if self._guard.is_chosen(path):
                raise InvalidParameter(problem, names=(path,)) from None
            raise UnbindableValue(problem, name=path) from None

    def scalar(self, variables: Any, reference: VariableReference) -> Any:
        """One value for one placeholder, exactly typed, and converted; ``str`` subclasses become ``str``."""
        convert = converter(reference.conversion, self._dialect) if reference.conversion else check_scalar
        return self._converted(variables, reference, convert)

    def text(self, variables: Any, reference: VariableReference) -> str:
        """A value as text, for ``'{{ x }}'``."""
        return str(self._converted(variables, reference, as_text))

    def limit(self, variables: Any, reference: VariableReference) -> int:
        """A count for ``limit`` and ``offset``: an ``int`` from 0."""
        value = self.scalar(variables, reference)
        if type(value) is not int or value < 0:
            what = "a negative number" if type(value) is int else type_name(value)
            fix = _declaration(reference.path, value, "integer")
            raise self._error(reference, f"`limit` and `offset` take a whole number from 0, not {what}{fix}")
        return value

    def items(self, variables: Any, reference: VariableReference) -> list[Any]:
        """The scalars of a list. An empty list is a list; a text, an object or a set is none."""
        value = self.value(variables, reference)
        if not isinstance(value, list | tuple | RecordList):
            fix = _declaration(reference.path, value, "list of text") or ": give a list, or compare with ="
            raise self._error(reference, f"`in` takes a list, not {type_name(value)}{fix}")
        found: list[Any] = self._converted(variables, reference, list_items)
        return found

    def value(self, variables: Any, reference: VariableReference) -> Any:
        """The value, or the default where it is absent."""
        value = look_up(variables, reference.path)
        return reference.default if is_absent(value) else value

    def _converted(self, variables: Any, reference: VariableReference, convert: Callable[[Any], Any]) -> Any:
        value = self.value(variables, reference)
        if value is None and reference.nullable:
            return None
        try:
            return convert(value)
        except ValueError as refusal:
            raise self._error(reference, str(refusal)) from None

    def _error(self, reference: VariableReference, problem: str) -> UnbindableValue:
        return UnbindableValue(
            f"{reference.path} at {self._source.location(reference.offset)}: {problem}", name=reference.path
        )


def _declaration(path: str, value: Any, kind: str) -> str:
    """The fix for a text of a viewer's parameter that is not declared: a declared one would have been converted."""
    name = path.removeprefix("params.")
    if not is_viewer_input(path) or "." in name or not isinstance(value, str):
        return ""
    return f": declare it: `params: {{{name}: {kind}}}`"
