"""Code generation: one Python function for a template in one dialect and paramstyle.

What reaches ``exec`` is made of numbers, of ``repr`` of strings (names of a checked path, and the text of composed
literals) and of the words below: no character of the author's text outside a Python string literal. The function takes
the common case alone, and leaves every doubt to ``careful``: it reads plain dicts and the dict inside a Record, whose
``__getitem__`` would cost more than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from tenantry.groups import Record, RecordList
from tenantry.sql.bound import BoundSQL
from tenantry.sql.careful import Careful
from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Clause, Composed, Hole, Members, Node, Position, Text, Tree, Value
from tenantry.sql.paramstyles import Paramstyle
from tenantry.sql.shapes import Shapes
from tenantry.sql.source import Source
from tenantry.sql.values import FIT, GREATEST, UNREADABLE, fit

Bind = Callable[[Any], BoundSQL]

_FEW = 4  # scalars that are read and checked one by one in the function; more are done at once, which compiles faster
_CHECKED_APART = frozenset({Position.LIST, Position.LIMIT})
_WORDS: dict[str, Any] = {
    "new": tuple.__new__,
    "BoundSQL": BoundSQL,
    "UNREADABLE": UNREADABLE,
    "inside": vars(Record)["_values"].__get__,  # the dict in a Record; TypeError for anything else
    # A list is copied before it is checked: another thread that changes it cannot part the text from its parameters.
    "LISTS": {list: tuple, tuple: tuple, RecordList: vars(RecordList)["_values"].__get__},
    "FIT": FIT,
    "fit": fit,
}


def generate(source: Source, tree: Tree, dialect: Dialect, style: Paramstyle) -> Bind:
    """The function from variables to BoundSQL."""
    shapes = Shapes(tree, dialect, style)
    careful = Careful(source, tree, dialect, style, shapes)
    writer = _Writer(tree, dialect, style)
    code = writer.write()
    names: dict[str, Any] = {
        **_WORDS,
        "known": shapes.known,
        "shape": shapes.shape,
        "careful": careful.bind,
        **writer.getters,
    }
    if writer.has_one_shape:
        names["only"], names["only_names"] = shapes.shape(())
    exec(compile(code, "<sql template>", "exec"), names)  # noqa: S102  # see the head of this file
    bind: Bind = names["bind"]
    return bind


@dataclass(frozen=True, slots=True)
class _Run:
    """Values one after the other and of one parent: one call of an itemgetter reads them all, whatever their number."""

    parent: tuple[str, ...]
    holes: tuple[Hole, ...]


_Item: TypeAlias = Node | _Run


class _Writer:
    """Writes ``bind(v)``: ``m`` are objects by path, ``r`` values by path, ``t`` values of runs, ``b`` whether a clause
    is kept, ``q`` its parameters, ``p`` all of them."""

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self._dialect = dialect
        self._style = style
        self._items = list(_with_runs(tree.nodes))
        self._runs = [item for item in self._items if isinstance(item, _Run)]
        in_runs = {hole.offset for run in self._runs for hole in run.holes}
        self._holes = [hole for hole in tree.holes if hole.offset not in in_runs]
        self._required = {hole.path: None for hole in tree.holes if hole.required}
        self._numbers = {path: n for n, path in enumerate(dict.fromkeys(hole.path for hole in self._holes))}
        self._objects: dict[tuple[str, ...], str] = {(): "v"}
        parents = {_parent(path) for path in self._required}
        self._needed = {parent[:depth] for parent in parents for depth in range(1, len(parent) + 1)}
        self._lines: list[str] = []
        self._clauses = 0
        self._key: list[str] = []
        self._tested: set[str] = set()

    @property
    def has_one_shape(self) -> bool:
        """Whether the text is always the same: no list, no clause."""
        return not self._key

    @property
    def getters(self) -> dict[str, Any]:
        """What reads the runs, by the name that it has in the function."""
        return {
            f"g{n}": itemgetter(*(hole.path.rpartition(".")[2] for hole in run.holes))
            for n, run in enumerate(self._runs)
        }

    def write(self) -> str:
        """The source of ``bind(v)``."""
        self._read()
        tests = self._tests([hole for hole in self._holes if hole.required])
        tests += [f"fit(t{n})" for n in range(len(self._runs))]
        if tests:
            self._lines.append(f" if not ({' and '.join(tests)}): return careful(v)")
        self._tested.update(tests)
        self._lines.append(f" p = {self._params(self._items, within='')}")
        self._lines.append("except UNREADABLE: return careful(v)")
        self._finish()
        return "def bind(v):\n " + "\n ".join(self._lines) + "\n"

    def _read(self) -> None:
        """Reads every path, each object on the way once. What may be absent is then None.

        The ``try`` that begins here costs nothing, and takes in the tests: a type that ``FIT`` or ``LISTS`` does not
        have is in doubt.
        """
        lists = {hole.path for hole in self._holes if hole.position is Position.LIST}
        self._lines += ["try:", " if type(v) is not dict: v = inside(v)"]
        for n, run in enumerate(self._runs):
            self._lines.append(f" t{n} = g{n}({self._object(run.parent)})")
        for path, n in self._numbers.items():
            parent, name = self._object(_parent(path)), path.rpartition(".")[2]
            required = path in self._required
            self._lines.append(f" r{n} = {parent}" + (f"[{name!r}]" if required else f".get({name!r})"))
            if path in lists:
                given = "" if required else f"if r{n} is not None: "
                self._lines.append(f" {given}r{n} = LISTS[type(r{n})](r{n})")

    def _object(self, path: tuple[str, ...]) -> str:
        """The name of the dict at a path; what reads it is written when it is first asked for."""
        name = self._objects.get(path)
        if name is None:
            parent = self._object(path[:-1])
            name = self._objects[path] = f"m{len(self._objects)}"
            item = f"[{path[-1]!r}]" if path in self._needed else f".get({path[-1]!r}, {{}})"
            self._lines += [f" {name} = {parent}{item}", f" if type({name}) is not dict: {name} = inside({name})"]
        return name

    def _tests(self, holes: Sequence[Hole]) -> list[str]:
        """Expressions that are true when all of these values can be bound where they stand, and are in no doubt."""
        scalars = dict.fromkeys(self._local(h) for h in holes if h.position not in _CHECKED_APART)
        tests: dict[str, None] = {}
        for hole in holes:
            local = self._local(hole)
            if hole.position is Position.LIMIT:
                tests[f"type({local}) is int and 0 <= {local} <= {GREATEST}"] = None
            elif hole.position is Position.LIST:
                tests[f"fit({local})"] = None
            elif hole.position is not Position.VALUE:
                tests[f"type({local}) is str"] = None
        if len(scalars) > _FEW:
            tests[f"fit(({', '.join(scalars)},))"] = None
        else:
            tests |= {f"FIT[type({local})]({local})": None for local in scalars}
        return [test for test in tests if test not in self._tested]

    def _params(self, items: Sequence[_Item], *, within: str) -> str:
        """An expression for the parameters of some nodes; what it needs is written before it."""
        found: list[str] = []
        for item in items:
            if isinstance(item, Value):
                found.append(self._local(item.hole))
            elif isinstance(item, _Run):
                found.append(f"*t{self._runs.index(item)}")
            elif isinstance(item, Composed):
                found.append(self._composed(item))
            elif isinstance(item, Members):
                length = f"len({self._local(item.hole)})"
                self._key.append(f"({length} if {within} else 0)" if within else length)
                found.append(f"*{self._local(item.hole)}")
            elif isinstance(item, Clause):
                found.append(f"*{self._clause(item, within)}")
        if found == ["*t0"]:
            return "t0"  # a tuple already
        return f"({', '.join(found)},)" if found else "()"

    def _clause(self, node: Clause, within: str) -> str:
        """Writes when a clause is kept and its parameters; gives the name of the latter."""
        number = self._clauses
        self._clauses += 1
        self._key.append(f"b{number}")
        free = dict.fromkeys(self._local(hole) for hole in node.holes if hole.path not in self._required)
        conditions = [within] * bool(within) + [f"{local} is not None" for local in free]
        self._lines.append(f" b{number} = {' and '.join(conditions) or 'True'}")
        tests = self._tests(node.holes)
        if tests:
            self._lines.append(f" if b{number} and not ({' and '.join(tests)}): return careful(v)")
        params = self._params(node.children, within=f"b{number}")
        self._lines.append(f" q{number} = {params} if b{number} else ()")
        return f"q{number}"

    def _composed(self, node: Composed) -> str:
        parts = [self._local(part) if isinstance(part, Hole) else repr(part) for part in node.parts]
        return " + ".join(parts) if len(parts) <= 3 else f"''.join(({', '.join(parts)}))"

    def _local(self, hole: Hole) -> str:
        return f"r{self._numbers[hole.path]}"

    def _finish(self) -> None:
        sql, names = ("only", "only_names") if self.has_one_shape else ("s[0]", "s[1]")
        if not self.has_one_shape:
            self._lines.append(f"k = ({', '.join(self._key)},)")
            self._lines.append("s = known.get(k) or shape(k)")
        params = f"dict(zip({names}, p))" if self._style.named else "p"
        if self._style.doubles_percent:
            params += " or None"
        self._lines.append(f"return new(BoundSQL, ({sql}, {params}, {self._style.name!r}, {self._dialect.name!r}))")


def _parent(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")[:-1])


def _with_runs(nodes: Sequence[Node]) -> Iterator[_Item]:
    """The nodes that have parameters, with a run in place of the values that make one."""
    for parent, group in groupby((node for node in nodes if not isinstance(node, Text)), _plain_parent):
        items = list(group)
        if parent is not None and len(items) > _FEW:
            yield _Run(parent, tuple(item.hole for item in items if isinstance(item, Value)))
        else:
            yield from items


def _plain_parent(node: Node) -> tuple[str, ...] | None:
    if isinstance(node, Value) and node.hole.position is Position.VALUE:
        return _parent(node.hole.path)
    return None
