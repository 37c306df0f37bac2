"""Code generation: one Python function for a template in one dialect and paramstyle.

What reaches ``exec`` is made of numbers, of ``repr`` of strings (names of a checked path, and the text of composed
literals) and of the words below: no character of the author's text outside a Python string literal. The function takes
the common case alone, and leaves every doubt to ``careful``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenantry.sql.bound import BoundSQL
from tenantry.sql.careful import Careful
from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Clause, Composed, Hole, Members, Node, Position, Tree, Value
from tenantry.sql.paramstyles import Paramstyle
from tenantry.sql.shapes import Shapes
from tenantry.sql.source import Source
from tenantry.sql.values import LISTS, UNREADABLE, fit

Bind = Callable[[Any], BoundSQL]

_FEW = 4  # scalars that are checked one by one in the function; more are checked at once, which compiles faster


def generate(source: Source, tree: Tree, dialect: Dialect, style: Paramstyle) -> Bind:
    """The function from variables to BoundSQL."""
    shapes = Shapes(tree, dialect, style)
    careful = Careful(source, tree, dialect, style, shapes)
    writer = _Writer(tree, dialect, style)
    code = writer.write()
    names: dict[str, Any] = {
        "new": tuple.__new__,
        "BoundSQL": BoundSQL,
        "UNREADABLE": UNREADABLE,
        "LISTS": LISTS,
        "known": shapes.known,
        "shape": shapes.shape,
        "fit": fit,
        "careful": careful.bind,
    }
    if writer.has_one_shape:
        names["only"], names["only_names"] = shapes.shape(())
    exec(compile(code, "<sql template>", "exec"), names)  # noqa: S102  # see the head of this file
    bind: Bind = names["bind"]
    return bind


class _Writer:
    """Writes ``bind(v)``: ``r`` are values by path, ``b`` kept clauses, ``q`` their parameters, ``p`` all of them."""

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._numbers = {path: n for n, path in enumerate(dict.fromkeys(hole.path for hole in tree.holes))}
        self._required = list(dict.fromkeys(hole.path for hole in tree.holes if hole.clauses == 0))
        self._locals: dict[tuple[str, ...], str] = {(): "v"}
        self._lines: list[str] = []
        self._clauses = 0
        self._key: list[str] = []

    @property
    def has_one_shape(self) -> bool:
        """Whether the text is always the same: no list, no clause."""
        return not self._key

    def write(self) -> str:
        """The source of ``bind(v)``."""
        self._read_required()
        self._doubt([hole for hole in self._tree.holes if hole.clauses == 0], "")
        self._lines.append(f"p = {self._params(self._tree.nodes, within='')}")
        self._check_params()
        self._finish()
        return "def bind(v):\n " + "\n ".join(self._lines) + "\n"

    def _read_required(self) -> None:
        """Reads every path that must have a value, each shared prefix once, in one try."""
        if not self._required:
            return
        paths = [tuple(path.split(".")) for path in self._required]
        children: dict[tuple[str, ...], set[str]] = {}
        for path in paths:
            for depth in range(1, len(path)):
                children.setdefault(path[:depth], set()).add(path[depth])
        self._lines.append("try:")
        for path in paths:
            for depth in range(1, len(path)):
                if path[:depth] not in self._locals and len(children[path[:depth]]) > 1:
                    self._read(path[:depth], f"m{len(self._locals)}")
            self._read(path, f"r{self._numbers['.'.join(path)]}")
        self._lines.append("except UNREADABLE: return careful(v)")

    def _read(self, path: tuple[str, ...], name: str) -> None:
        self._lines.append(f" {name} = {self._expression(path)}")
        self._locals[path] = name

    def _expression(self, path: tuple[str, ...]) -> str:
        depth = len(path) - 1
        while path[:depth] not in self._locals:
            depth -= 1
        return self._locals[path[:depth]] + "".join(f"[{name!r}]" for name in path[depth:])

    def _doubt(self, holes: Sequence[Hole], indent: str) -> None:
        """Leaves to ``careful`` what is not of the type that its position needs."""
        tests: dict[str, None] = {}
        for hole in holes:
            local = f"r{self._numbers[hole.path]}"
            if hole.position is Position.LIST:
                tests[f"type({local}) not in LISTS"] = None
            elif hole.position is Position.LIMIT:
                tests[f"type({local}) is not int or {local} < 0"] = None
            elif hole.position is not Position.VALUE:
                tests[f"type({local}) is not str"] = None
        if tests:
            self._lines.append(f"{indent}if {' or '.join(tests)}: return careful(v)")

    def _params(self, nodes: Sequence[Node], *, within: str) -> str:
        """An expression for the parameters of some nodes; what it needs is written before it."""
        items: list[str] = []
        for node in nodes:
            if isinstance(node, Value):
                items.append(self._local(node.hole))
            elif isinstance(node, Composed):
                items.append(self._composed(node))
            elif isinstance(node, Members):
                length = f"len({self._local(node.hole)})"
                self._key.append(f"({length} if {within} else 0)" if within else length)
                items.append(f"*{self._local(node.hole)}")
            elif isinstance(node, Clause):
                items.append(f"*{self._clause(node, within)}")
        return f"({', '.join(items)},)" if items else "()"

    def _clause(self, node: Clause, within: str) -> str:
        """Writes when a clause is kept and its parameters; gives the name of the latter."""
        number = self._clauses
        self._clauses += 1
        self._key.append(f"b{number}")
        free = [path for path in dict.fromkeys(hole.path for hole in node.holes) if path not in self._required]
        for path in free:
            local = f"r{self._numbers[path]}"
            self._lines.append(f"try: {local} = {self._expression(tuple(path.split('.')))}")
            self._lines.append(f"except UNREADABLE: {local} = None")
        conditions = [within] * bool(within) + [f"r{self._numbers[path]} is not None" for path in free]
        self._lines.append(f"b{number} = {' and '.join(conditions) or 'True'}")
        self._lines.append(f"if b{number}:")
        self._doubt(node.holes, " ")
        self._lines.append(" pass")
        params = self._params(node.children, within=f"b{number}")
        self._lines.append(f"q{number} = {params} if b{number} else ()")
        return f"q{number}"

    def _composed(self, node: Composed) -> str:
        parts = [self._local(part) if isinstance(part, Hole) else repr(part) for part in node.parts]
        return " + ".join(parts) if len(parts) <= 3 else f"''.join(({', '.join(parts)}))"

    def _local(self, hole: Hole) -> str:
        return f"r{self._numbers[hole.path]}"

    def _check_params(self) -> None:
        holes = [hole for hole in self._tree.holes if hole.clauses == 0]
        scalars = list(dict.fromkeys(self._local(hole) for hole in holes if hole.position is not Position.LIST))
        tests = [f"fit({name})" for name in dict.fromkeys(self._local(h) for h in holes if h.position is Position.LIST)]
        if len(scalars) <= _FEW:  # a printable str has no NUL and no surrogate
            quick = [f"(type({r}) is str and {r}.isprintable() or fit(({r},)))" for r in scalars]
            tests = quick + [f"fit(q{n})" for n in range(self._clauses)] + tests
        else:
            clauses = [f"*q{n}" for n in range(self._clauses)]
            tests.append(f"fit(({', '.join([*scalars, *clauses])},))")
        if tests:
            self._lines.append(f"if not ({' and '.join(tests)}): return careful(v)")

    def _finish(self) -> None:
        sql, names = ("only", "only_names") if self.has_one_shape else ("s[0]", "s[1]")
        if not self.has_one_shape:
            key = f"({', '.join(self._key)},)"
            self._lines.append(f"s = known.get({key}) or shape({key})")
        params = f"dict(zip({names}, p))" if self._style.named else "p"
        if self._style.doubles_percent:
            params += " or None"
        self._lines.append(f"return new(BoundSQL, ({sql}, {params}, {self._style.name!r}, {self._dialect.name!r}))")
