"""Code generation: one Python function for a template in one dialect and paramstyle.

What reaches ``exec`` is made of numbers, of ``repr`` of strings (names of a checked path, and the text of concatenated
literals) and of the names below: no character of the author's text outside a Python string literal. The function takes
the common case alone, and leaves every doubt to the interpreter: it reads plain dicts and the dict inside a Record,
whose ``__getitem__`` would cost more than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any

from tenantry.groups import Record, RecordList
from tenantry.sql.binding.conversions import converter
from tenantry.sql.binding.paramstyles import BoundSQL, Paramstyle
from tenantry.sql.binding.renderer import Interpreter
from tenantry.sql.binding.value_runs import FEW, Item, ValueRun, always_repeated, is_always_read, parent_of, with_runs
from tenantry.sql.binding.values import BINDABLE, MAX_INTEGER, UNREADABLE, all_bindable
from tenantry.sql.dialects import Dialect
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
    default_key,
    placeholder_key,
    references_in,
)
from tenantry.sql.tenant_guard import reads_group

Bind = Callable[[Any], BoundSQL]

_CHECKED_SEPARATELY = frozenset({Position.LIST, Position.LIMIT, Position.CHOICE})
_UNCONVERTED = frozenset({Position.VALUE, Position.CHOICE})
_GLOBALS: dict[str, Any] = {
    "new": tuple.__new__,
    "BoundSQL": BoundSQL,
    "UNREADABLE": (*UNREADABLE, ValueError),  # the latter from a conversion
    "record_values": vars(Record)["_values"].__get__,  # the dict in a Record; TypeError for anything else
    # A list is copied before it is checked: another thread that changes it cannot part the text from its parameters.
    "LISTS": {list: tuple, tuple: tuple, RecordList: vars(RecordList)["_values"].__get__},
    "BINDABLE": BINDABLE,
    "all_bindable": all_bindable,
}


def generate(tree: Tree, dialect: Dialect, style: Paramstyle, interpreter: Interpreter) -> Bind:
    """The function from variables to BoundSQL. ``interpreter`` is that of the same tree, dialect and style."""
    renderer = interpreter.renderer
    writer = _FunctionWriter(tree, dialect, style)
    code = writer.write()
    names: dict[str, Any] = {
        **_GLOBALS,
        "cached": renderer.cached,
        "render": renderer.render,
        "interpret": interpreter.bind,
        **writer.getters,
        **writer.choosers,
    }
    if writer.has_one_text:
        names["only"], names["only_names"] = renderer.render(())
    exec(compile(code, "<sql template>", "exec"), names)  # noqa: S102  # see the head of this file
    bind: Bind = names["bind"]
    return bind


class _FunctionWriter:
    """Writes ``bind(v)``: ``m`` are objects by path, ``r`` values by path, ``t`` values of runs, ``i`` the branch of a
    Switch, ``b`` whether a clause or branch is included, ``q`` its parameters, ``p`` all of them."""

    def __init__(self, tree: Tree, dialect: Dialect, style: Paramstyle) -> None:
        self._dialect = dialect
        self._style = style
        self._reads_group = reads_group(tree)
        self._items = list(with_runs(tree.nodes, shares=style.shares))
        self._runs = [item for item in self._items if isinstance(item, ValueRun)]
        in_runs = {id(reference) for run in self._runs for reference in run.references}
        dropped = always_repeated(tree.nodes) if style.shares else set()
        self._references = [each for each in tree.references if id(each) not in in_runs and id(each) not in dropped]
        self._required = {reference.path: None for reference in tree.references if reference.required}
        self._numbers = {value: n for n, value in enumerate(dict.fromkeys(map(_value, self._references)))}
        self._within: dict[str, tuple[str, ...]] = {"": ("",)}  # condition -> itself and those that it implies
        self._added: dict[Hashable, list[str]] = {}  # placeholder -> the conditions under which it has a parameter
        self._objects: dict[tuple[str, ...], str] = {(): "v"}
        parents = {parent_of(path) for path in self._required}
        self._needed = {parent[:depth] for parent in parents for depth in range(1, len(parent) + 1)}
        self._lines: list[str] = []
        self._clauses = 0
        self._switches = 0
        self.choosers: dict[str, Any] = {}
        """What chooses the branches and what converts values, by the name that it has in the function."""
        self._converters: dict[str, str] = {}
        self._key: list[str] = []
        self._tested: set[str] = set()

    @property
    def has_one_text(self) -> bool:
        """Whether the text is always the same: no list, no clause."""
        return not self._key

    @property
    def getters(self) -> dict[str, Any]:
        """What reads the runs, by the name that it has in the function."""
        return {
            f"g{n}": itemgetter(*(reference.path.rpartition(".")[2] for reference in run.references))
            for n, run in enumerate(self._runs)
        }

    def write(self) -> str:
        """The source of ``bind(v)``."""
        self._read()
        tests = self._tests([each for each in self._references if each.required or is_always_read(each)])
        tests += [f"all_bindable(t{n})" for n in range(len(self._runs))]
        if tests:
            self._lines.append(f" if not ({' and '.join(tests)}): return interpret(v)")
        self._tested.update(tests)
        self._lines.append(f" p = {self._params(self._items, within='')}")
        self._lines.append("except UNREADABLE: return interpret(v)")
        sql, names = ("only", "only_names") if self.has_one_text else ("s[0]", "s[1]")
        if not self.has_one_text:
            self._lines.append(f"k = ({', '.join(self._key)},)")
            self._lines.append("s = cached.get(k) or render(k)")
        params = f"dict(zip({names}, p))" if self._style.named else "p"
        if self._style.doubles_percent:
            params += " or None"
        constants = f"{self._style.name!r}, {self._dialect.name!r}, {self._reads_group}"
        self._lines.append(f"return new(BoundSQL, ({sql}, {params}, {constants}))")
        return "def bind(v):\n " + "\n ".join(self._lines) + "\n"

    def _read(self) -> None:
        """Reads every path, each object within it once. What may be absent is then None.

        The ``try`` that begins here costs nothing, and takes in the tests: a type that ``BINDABLE`` or ``LISTS``
        lacks is left to the interpreter.
        """
        lists = {reference.path for reference in self._references if reference.position is Position.LIST}
        self._lines += ["try:", " if type(v) is not dict: v = record_values(v)"]
        for n, run in enumerate(self._runs):
            self._lines.append(f" t{n} = g{n}({self._object(run.parent)})")
        for (path, *default), n in self._numbers.items():
            parent, name = self._object(parent_of(path)), path.rpartition(".")[2]
            required = path in self._required
            self._lines.append(f" r{n} = {parent}" + (f"[{name!r}]" if required else f".get({name!r})"))
            if default:
                self.choosers[f"d{n}"] = default[1]
                self._lines.append(f" if r{n} is None: r{n} = d{n}")
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
            self._lines += [
                f" {name} = {parent}{item}",
                f" if type({name}) is not dict: {name} = record_values({name})",
            ]
        return name

    def _tests(self, references: Sequence[VariableReference]) -> list[str]:
        """Expressions that are true when all of these values can certainly be bound in their positions."""
        plain = [each for each in references if not each.conversion and not each.nullable and self._is_read(each)]
        scalars = dict.fromkeys(self._local(h) for h in plain if h.position not in _CHECKED_SEPARATELY)
        tests: dict[str, None] = {}
        for reference in references:
            if reference.nullable and not reference.conversion:
                local = self._local(reference)
                tests[f"({local} is None or BINDABLE[type({local})]({local}))"] = None
        for reference in plain:
            local = self._local(reference)
            if reference.position is Position.LIMIT:
                tests[f"type({local}) is int and 0 <= {local} <= {MAX_INTEGER}"] = None
            elif reference.position is Position.LIST:
                tests[f"all_bindable({local})"] = None
            elif reference.position not in _UNCONVERTED:
                tests[f"type({local}) is str"] = None
        if len(scalars) > FEW:
            tests[f"all_bindable(({', '.join(scalars)},))"] = None
        else:
            tests |= {f"BINDABLE[type({local})]({local})": None for local in scalars}
        return [test for test in tests if test not in self._tested]

    def _params(self, items: Sequence[Item], *, within: str) -> str:
        """An expression for the parameters of some nodes; what it needs is written before it."""
        found: list[str] = []
        for item in items:
            if isinstance(item, ValueRun):
                found.append(f"*t{self._runs.index(item)}")
                self._added.update((placeholder_key(Value(each)), [""]) for each in item.references)
            elif isinstance(item, Value | Concat | InList):
                if isinstance(item, InList):
                    length = f"len({self._local(item.reference)})"
                    self._key.append(f"({length} if {within} else 0)" if within else length)
                found += self._once(item, self._param(item), within)
            elif isinstance(item, Clause):
                found.append(f"*{self._clause(item, within)}")
            elif isinstance(item, Switch):
                found += self._switch(item, within)
        if found == ["*t0"]:
            return "t0"  # a tuple already
        return f"({', '.join(found)},)" if found else "()"

    def _param(self, item: Value | Concat | InList) -> str:
        """An expression for the parameters of a node, to stand in a tuple."""
        if isinstance(item, InList):
            return f"*{self._local(item.reference)}"
        if isinstance(item, Value):
            return self._converted(item.reference)
        parts = [self._local(part) if isinstance(part, VariableReference) else repr(part) for part in item.parts]
        return " + ".join(parts) if len(parts) <= 3 else f"''.join(({', '.join(parts)}))"

    def _converted(self, reference: VariableReference) -> str:
        local = self._local(reference)
        if not reference.conversion:
            return local
        name = self._converters.setdefault(reference.conversion, f"f{len(self._converters)}")
        self.choosers[name] = converter(reference.conversion, self._dialect)
        return f"None if {local} is None else {name}({local})" if reference.nullable else f"{name}({local})"

    def _once(self, item: Value | Concat | InList, param: str, within: str) -> list[str]:
        """The parameters, unless an earlier placeholder has them; where it is there only sometimes, that is asked."""
        if not self._style.shares:
            return [param]
        conditions = self._added.setdefault(placeholder_key(item), [])
        if not set(conditions).isdisjoint(self._within[within]):
            return []
        earlier = " or ".join(conditions)
        conditions.append(within)
        return [f"*(() if {earlier} else ({param},))"] if earlier else [param]

    def _clause(self, node: Clause, within: str) -> str:
        """Writes the condition of a clause and its parameters; gives the name of the latter."""
        number = self._clauses
        self._clauses += 1
        self._key.append(f"b{number}")
        free = dict.fromkeys(
            self._local(reference)
            for reference in node.references
            if reference.path not in self._required and not reference.never_absent
        )
        conditions = [within] * bool(within) + [f"{local} is not None" for local in free]
        self._lines.append(f" b{number} = {' and '.join(conditions) or 'True'}")
        return self._included(number, within, node.children, node.references)

    def _included(
        self, number: int, within: str, nodes: Sequence[Node], references: Sequence[VariableReference]
    ) -> str:
        """Writes the parameters of nodes that are included when ``b`` of this number is true; gives their name."""
        self._within[f"b{number}"] = (f"b{number}", *self._within[within])
        tests = self._tests(references)
        if tests:
            self._lines.append(f" if b{number} and not ({' and '.join(tests)}): return interpret(v)")
        params = self._params(nodes, within=f"b{number}")
        self._lines.append(f" q{number} = {params} if b{number} else ()")
        return f"q{number}"

    def _switch(self, node: Switch, within: str) -> list[str]:
        """Writes the choice of a branch and the parameters of each; gives the names of the latter."""
        chosen = self._switches
        self._switches += 1
        self.choosers[f"c{chosen}"] = node.choose
        self._key.append(f"i{chosen}")
        choice = f"c{chosen}({self._local(node.reference)})"
        self._lines.append(f" i{chosen} = {choice}" + (f" if {within} else 0" if within else ""))
        found: list[str] = []
        for index, branch in enumerate(node.branches):
            if all(isinstance(each, Text) for each in branch):
                continue
            number = self._clauses
            self._clauses += 1
            self._lines.append(f" b{number} = {f'{within} and ' if within else ''}i{chosen} == {index}")
            found.append(f"*{self._included(number, within, branch, list(references_in(branch)))}")
        return found

    def _local(self, reference: VariableReference) -> str:
        return f"r{self._numbers[_value(reference)]}"

    def _is_read(self, reference: VariableReference) -> bool:
        """Whether the function reads it one by one: not where a run has it."""
        return _value(reference) in self._numbers


def _value(reference: VariableReference) -> tuple[Any, ...]:
    """Equal for references of one value: of the same path, and with the same default."""
    default = reference.default
    return (reference.path, default_key(reference), default) if default is not None else (reference.path,)
