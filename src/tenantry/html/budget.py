"""Budget: how much work one rendering may do, counted in steps; and metering: where a template's code charges it.

A template that meets more data than its author thought of can take minutes: loops within loops, a text that is doubled
again and again, a macro that calls itself twice. So each round of a loop, each call and each text that is built or read
costs steps, and the template is stopped when they are used up. What a step takes differs; all of them take seconds.

The compiler puts a step into each round of a loop, and charges what joins and compares; filters, tests and templates
are wrapped. What a template does between two charges is bounded by its own length and by the size of the values.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import wraps
from typing import Any, Final, TypeVar

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.environment import TemplateModule
from markupsafe import Markup

from tenantry.errors import TemplateError
from tenantry.groups import Record, RecordList

MAX_STEPS: Final = 2_000_000
"""The most steps of one rendering: a round of a loop, a call of a macro, filter, test or method, an item of a list that
is read whole, and every CHARACTERS characters of text that are built or read."""

CHARACTERS: Final = 32
"""How many characters of text one step builds or reads."""

_SHIFT: Final = CHARACTERS.bit_length() - 1
_TEXT: Final = frozenset({str, bytes, Markup})


class Budget:
    """What is left of MAX_STEPS."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left: int = MAX_STEPS

    def charge(self, steps: int) -> None:
        """Raise TemplateError if fewer steps than these are left."""
        self.left -= steps
        if self.left < 0:
            raise TemplateError(
                f"the template was stopped after {MAX_STEPS:,} steps (MAX_STEPS: rounds of loops, calls, texts of "
                f"{CHARACTERS} characters): do this work in the view, or show less at once"
            )


_active: ContextVar[Budget | None] = ContextVar("tenantry_template_budget", default=None)


@contextmanager
def spending(budget: Budget | None = None) -> Iterator[None]:
    """All steps within this block are of one budget, a new one unless given."""
    token = _active.set(budget or Budget())
    try:
        yield
    finally:
        _active.reset(token)


def active_budget() -> Budget | None:
    """The budget of the rendering that runs, if one does."""
    return _active.get()


def charge(steps: int) -> None:
    """Charges the rendering that runs, if one does."""
    budget = _active.get()
    if budget is not None:
        budget.charge(steps)


def step() -> bool:
    """One step. True, so that it can come before a loop's own condition."""
    budget = _active.get()
    if budget is not None:
        budget.left -= 1
        if budget.left < 0:
            budget.charge(0)
    return True


def read(value: Any) -> Any:
    """The value, charged as something that is read whole."""
    if type(value) not in _SMALL:
        charge(weight(value))
    return value


def copied(value: Any) -> Any:
    """The value, charged as something whose surface is copied."""
    charge(size(value))
    return value


_SMALL: Final = frozenset({int, bool, float, type(None)})
_LEAVES: Final = _SMALL | _TEXT


def counted(items: Iterator[Any]) -> Iterator[Any]:
    """The same items, a step each."""
    for item in items:
        step()
        yield item


def size(value: Any) -> int:
    """Steps of a value that is read or copied at its surface: the length of a text or a list."""
    kind = type(value)  # most values are of these two kinds, and a look into a table of types is faster than isinstance
    if kind in _TEXT:
        return 1 + (len(value) >> _SHIFT)
    if kind in _SMALL:
        return 1 + (value.bit_length() >> 10) if kind is int else 1
    if isinstance(value, _CONTAINERS):
        return 1 + len(value)
    if isinstance(value, str | bytes):
        return 1 + (len(value) >> _SHIFT)
    if isinstance(value, int):
        return 1 + (value.bit_length() >> 10)
    if isinstance(value, Decimal) and value.is_finite():
        return 1 + (max(value.adjusted(), 0) >> 6) ** 2  # as an integer it may have a thousand million digits
    return 1


_VIEWS: Final = (KeysView, ValuesView, ItemsView)
_CONTAINERS: Final = (list, tuple, set, frozenset, dict, Record, RecordList, range, deque, *_VIEWS)


def weight(value: Any) -> int:
    """Steps of a value that is read whole, with all that is in it; no more than a little above MAX_STEPS, however
    often its parts repeat."""
    if type(value) in _LEAVES:
        return size(value)
    total, stack = 0, [value]
    while stack and total <= MAX_STEPS:
        item = stack.pop()
        total += size(item)
        if total > MAX_STEPS:
            break
        if isinstance(item, Record | RecordList):
            item = item._values
        if isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, _ITERATED):
            stack.extend(item)
    return total


_ITERATED: Final = (list, tuple, set, frozenset, deque, *_VIEWS)


F = TypeVar("F", bound=Callable[..., Any])

MAX_NESTED_LOOPS: Final = 16
"""How deep loops may be nested in one template: Python compiles no more than 20 nested blocks."""

_AT_THE_SURFACE: Final = frozenset({
    "count", "d", "default", "first", "items", "last", "length", "list", "map", "reject", "rejectattr",
    "reverse", "select", "selectattr",
})  # fmt: skip
"""Filters that do not look into what they are given; all others may read it whole."""

_COMPARING: Final = frozenset({
    "!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge", "greaterthan", "gt", "in", "le", "lessthan", "lower", "lt",
    "ne", "upper",
})  # fmt: skip
"""Tests that read a value whole."""


def add_steps(tree: nodes.Template, environment: jinja2.Environment) -> None:
    """A step in each round of each loop, also in those that the loop's own condition leaves out. Raises
    TemplateSyntaxError where loops are nested too deep."""
    for loop in list(tree.find_all(nodes.For)):
        if loop.test is not None:
            loop.test = nodes.And(_step(loop.lineno), loop.test, lineno=loop.lineno)
        loop.body.insert(0, nodes.ExprStmt(_step(loop.lineno), lineno=loop.lineno))
    tree.body.insert(0, nodes.ExprStmt(_step(1), lineno=1))
    tree.set_environment(environment)
    _require_flat(tree, 0)


def _step(line: int) -> nodes.Expr:
    return nodes.EnvironmentAttribute("step()", lineno=line)  # the compiler writes it as ``environment.step()``


def _require_flat(node: nodes.Node, depth: int) -> None:
    if depth > MAX_NESTED_LOOPS:
        raise jinja2.TemplateSyntaxError(
            f"more than {MAX_NESTED_LOOPS} loops are nested: prepare the list in the view", node.lineno
        )
    for child in node.iter_child_nodes():
        _require_flat(child, depth + isinstance(child, nodes.For))


class MeteredGenerator(CodeGenerator):
    """Jinja's compiler; what joins texts or compares values goes through the environment."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """``a ~ b``."""
        self.write("environment.join_texts((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802  # as above
        """``a == b``, ``a in b``."""
        self.write("(")
        self._read(node.expr, frame)
        for operand in node.ops:
            self.write(f" {operators[operand.op]} ")
            self._read(operand.expr, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802  # as above
        """``{a: b}``, which reads each key whole, for its hash."""
        self.write("{")
        for item in node.items:
            self._read(item.key, frame)
            self.write(": ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("}")

    def _read(self, node: nodes.Expr, frame: Frame) -> None:
        known = isinstance(node, nodes.Const)
        self.write("" if known else "environment.read(")
        self.visit(node, frame)
        self.write("" if known else ")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802  # as above
        """``a[1:2]`` copies; Jinja writes it without asking the environment."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.copied(")
        self.visit(node.node, frame)
        self.write(")[")
        self.visit(node.arg, frame)
        self.write("]")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802  # as above
        """A number, text, true, false or none."""
        if not _is_finite(node.value):
            self.fail("this number is too large: numbers go up to 1.7e308", node.lineno)
        super().visit_Const(node, frame)


def _is_finite(value: Any) -> bool:
    """Whether Python can read what it writes of a constant, also of one that the compiler has put together."""
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_finite, value))
    if isinstance(value, dict):
        return all(map(_is_finite, (*value.keys(), *value.values())))
    return not isinstance(value, float) or math.isfinite(value)


def metered_filters(filters: dict[str, Any]) -> dict[str, Any]:
    """The same filters, each of which charges what it is given and what it makes."""
    return {name: metered(function, whole=name not in _AT_THE_SURFACE) for name, function in filters.items()}


def metered_tests(tests: dict[str, Any]) -> dict[str, Any]:
    """The same tests."""
    return {name: metered(function, whole=name in _COMPARING) for name, function in tests.items()}


def metered(function: F, *, whole: bool) -> F:
    """The function, with its arguments charged before and its result after."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0

    weigh = weight if whole else size

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        steps = 1
        for index in range(first, len(arguments)):
            if hasattr(arguments[index], "__next__"):  # an iterator may have no end
                bounded = counted(arguments[index])
                arguments = (*arguments[:index], list(bounded) if whole else bounded, *arguments[index + 1 :])
            steps += weigh(arguments[index])
        for value in keywords.values():
            steps += weigh(value)
        charge(steps)
        result = function(*arguments, **keywords)
        charge(size(result))
        return result

    return call  # type: ignore[return-value]  # wraps() keeps its signature


class MeteredTemplate(jinja2.Template):
    """A template whose every rendering has a Budget of its own, whatever it includes, imports and extends."""

    def render(self, *arguments: Any, **keywords: Any) -> str:
        """The page."""
        with spending():
            return super().render(*arguments, **keywords)

    async def render_async(self, *arguments: Any, **keywords: Any) -> str:
        """The page."""
        with spending():
            return await super().render_async(*arguments, **keywords)

    def generate(self, *arguments: Any, **keywords: Any) -> Iterator[str]:
        """The page chunk by chunk."""
        budget, chunks = Budget(), super().generate(*arguments, **keywords)
        while True:
            with spending(budget):  # not over a yield: what the caller does meanwhile is no work of ours
                chunk = next(chunks, None)
                charge(size(chunk))
            if chunk is None:
                return
            yield chunk

    async def generate_async(self, *arguments: Any, **keywords: Any) -> AsyncIterator[str]:  # type: ignore[override]
        """The page chunk by chunk."""
        budget, chunks = Budget(), super().generate_async(*arguments, **keywords)
        while True:
            with spending(budget):
                chunk = await anext(chunks, None)
                charge(size(chunk))
            if chunk is None:
                return
            yield chunk

    def make_module(self, *arguments: Any, **keywords: Any) -> TemplateModule:
        """The template as a module: for ``import``, which spends what the page has."""
        with spending(active_budget()):
            return super().make_module(*arguments, **keywords)
