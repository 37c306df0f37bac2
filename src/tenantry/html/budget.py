"""Budget: how much work one rendering may do, counted in steps.

A template that meets more data than its author thought of can take minutes: loops within loops, a text that is doubled
again and again, a macro that calls itself twice. So each round of a loop, each call and each text that is built or read
costs steps, and the template is stopped when they are used up. What a step takes differs; all of them take seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, Final

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
