"""Values: what may be bound, and the errors for what may not. No message ever shows a value.

The generated functions ask ``FIT`` about a value and ``fit`` about many; what is in doubt goes through ``Values``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import Record, RecordList
from tenantry.sql.nodes import Hole, Tree
from tenantry.sql.source import Source

GREATEST = 2**63 - 1
"""The greatest integer that is bound, and the least is -GREATEST - 1: 64 bits."""


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
UNREADABLE = (LookupError, TypeError)
"""What looking up a path in plain mappings raises where it leads nowhere."""

_AS_THEY_ARE = frozenset({bool, date, datetime, time, timedelta, UUID, bytes})
_NULL_ITEM = "NULL in a list matches nothing, and `not in` with it loses every row: take it out"


def _always(_value: object) -> bool:
    return True


def _has_64_bits(value: int) -> bool:
    return -GREATEST - 1 <= value <= GREATEST


FIT: Final[dict[type, Callable[[Any], bool]]] = {
    **dict.fromkeys(_AS_THEY_ARE, _always),
    str: str.isprintable,  # neither NUL nor a lone surrogate is printable
    int: _has_64_bits,
    float: math.isfinite,
    Decimal: Decimal.is_finite,
}
"""For each exact type that can be bound: whether a value is in no doubt."""
_FIT = frozenset(FIT)
_NUMBERS = frozenset({bool, int, float, Decimal})
_SAFE_LENGTH = 2.0**62
_TEXTS: dict[type, Callable[[Any], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    float: repr,
    Decimal: lambda value: format(value, "f"),
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
    UUID: str,
}


class Values:
    """The checks of one template's variables, which name the path and the place of what they refuse."""

    def __init__(self, source: Source, tree: Tree) -> None:
        self._source = source
        self._required = [hole for hole in tree.holes if hole.required]

    def require(self, variables: Any) -> None:
        """Raises the one MissingVariable that lists every path that has no value, with where it stands."""
        if not isinstance(variables, Mapping | Record):
            raise TypeError(f"variables must be a mapping, not {type(variables).__name__}")
        missing: dict[str, str] = {}
        for hole in self._required:
            value = look_up(variables, hole.path)
            if is_absent(value):
                at = f"{self._source.location(hole.offset)}"
                state = "null" if value is None else "missing"
                missing[hole.path] = f"{missing[hole.path]}, {at}" if hole.path in missing else f"{state} at {at}"
        if missing:
            listed = "; ".join(f"{path} ({state})" for path, state in missing.items())
            raise MissingVariable(
                f"variables without a value: {listed}. Give each of them a value; what a viewer may leave out is a "
                "params.* in [[ ]]",
                names=tuple(missing),
            )

    def scalar(self, variables: Any, hole: Hole) -> Any:
        """One value for one placeholder, exactly typed; ``str`` subclasses become ``str``."""
        try:
            return checked(look_up(variables, hole.path))
        except ValueError as refusal:
            raise self._error(hole, str(refusal)) from None

    def text(self, variables: Any, hole: Hole) -> str:
        """A value as text, for ``'{{ x }}'``: dates in ISO 8601, booleans as true and false."""
        value = self.scalar(variables, hole)
        convert = _TEXTS.get(type(value))
        if convert is not None:
            return convert(value)
        raise self._error(hole, f"{_kind(value)} has no text: name it outside the quotes")

    def limit(self, variables: Any, hole: Hole) -> int:
        """A count for ``limit`` and ``offset``: an ``int`` from 0."""
        value = self.scalar(variables, hole)
        if type(value) is not int or value < 0:
            what = "a negative number" if type(value) is int else _kind(value)
            raise self._error(hole, f"`limit` and `offset` take a whole number from 0, not {what}")
        return value

    def items(self, variables: Any, hole: Hole) -> list[Any]:
        """The scalars of a list. An empty list is a list; a text, an object or a set is none."""
        value = look_up(variables, hole.path)
        if not isinstance(value, list | tuple | RecordList):
            raise self._error(hole, f"`in` takes a list, not {_kind(value)}: give a list, or compare with =")
        return [self._item(item, hole, index) for index, item in enumerate(value)]

    def _item(self, item: Any, hole: Hole, index: int) -> Any:
        try:
            return checked(item)
        except ValueError as refusal:
            problem = _NULL_ITEM if item is None else str(refusal)
            raise self._error(hole, f"item {index} of the list: {problem}") from None

    def _error(self, hole: Hole, problem: str) -> UnbindableValue:
        return UnbindableValue(f"{hole.path} at {self._source.location(hole.offset)}: {problem}", name=hole.path)


def fit(params: Collection[Any]) -> bool:
    """Whether all parameters can be bound as they are; in doubt False. The fast twin of ``checked``.

    Each step is one pass in C. ``hypot`` gives the length of a vector, and no part of it is greater than its length:
    one comparison tells that every number is finite and well within 64 bits.
    """
    kinds = set(map(type, params))
    if not kinds <= _FIT:
        return False
    try:
        if str in kinds:
            text = "".join(params if len(kinds) == 1 else [value for value in params if type(value) is str])
            if "\0" in text or not (text.isascii() or text.encode()):  # encode() refuses a lone surrogate
                return False
        if kinds.isdisjoint(_NUMBERS):
            return True
        numbers = params if kinds <= _NUMBERS else [value for value in params if type(value) in _NUMBERS]
        return math.hypot(*numbers) < _SAFE_LENGTH
    except (ValueError, OverflowError):
        return False


def look_up(variables: Any, path: str) -> Any:
    """The value at a path, by ``[…]`` only; MISSING where it leads nowhere."""
    value = variables
    try:
        for name in path.split("."):
            value = value[name]
    except UNREADABLE:
        return MISSING
    return value


def is_absent(value: Any) -> bool:
    """Whether a looked-up value is none: missing or NULL."""
    return value is None or value is MISSING


def checked(value: Any) -> Any:
    """A scalar that can be bound. Raises ValueError that says why not, without the value."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is int:
        if _has_64_bits(value):
            return value
        raise ValueError("an integer beyond 64 bits cannot be bound")
    if isinstance(value, str):
        return _text(str.__str__(value))
    if kind is float or kind is Decimal:
        if value.is_finite() if kind is Decimal else math.isfinite(value):
            return value
        raise ValueError("infinity and not-a-number cannot be bound")
    raise ValueError(f"{_kind(value)} cannot be bound{_hint(value)}")


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError("a text with a NUL cannot be bound")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("a text with a lone surrogate cannot be bound") from None
    return value


def _kind(value: Any) -> str:
    if isinstance(value, Mapping | Record):
        return "an object"
    if isinstance(value, list | tuple | RecordList):
        return "a list"
    return f"a value of type {type(value).__name__}"


def _hint(value: Any) -> str:
    if isinstance(value, Mapping | Record):
        return ": name one of its values, with a dot"
    if isinstance(value, list | tuple | RecordList):
        return " here: a list stands after `in` or `not in`"
    return ""
