"""Checks which values can be bound. No error message shows a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from tenantry.groups import Record, RecordList

MAX_INTEGER = 2**63 - 1
"""Largest integer that can be bound (64 bits); the smallest is -MAX_INTEGER - 1."""


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
UNREADABLE = (LookupError, TypeError)
"""Exceptions that a failed lookup in a mapping can raise."""

_UNCHECKED = frozenset({bool, date, datetime, time, timedelta, UUID, bytes})


def _has_64_bits(value: int) -> bool:
    return -MAX_INTEGER - 1 <= value <= MAX_INTEGER


BINDABLE: Final[dict[type, Callable[[Any], bool]]] = {
    **dict.fromkeys(_UNCHECKED, lambda value: True),
    str: str.isprintable,  # neither NUL nor lone surrogates are printable
    int: _has_64_bits,
    float: math.isfinite,
    Decimal: Decimal.is_finite,
}
"""Exact type of a value → quick check: True if the value can be bound, False if ``check_scalar`` must decide."""
check_of: Final = BINDABLE.get
"""Returns the function that BINDABLE has for a type, or None."""
_BINDABLE_TYPES = frozenset(BINDABLE)
_NUMBERS = frozenset({bool, int, float, Decimal})
_SAFE_LENGTH = 2.0**62


def all_bindable(params: Collection[Any]) -> bool:
    """Return True only if it is certain that all values can be bound without conversion."""
    # Each step is one loop in C. The `hypot` of all numbers is at least as large as each of them, so one comparison
    # shows that all are finite and within 64 bits.
    if not params:
        return True
    kinds = [*map(type, params)]
    kind = kinds[0]
    try:
        if kinds.count(kind) < len(kinds):
            return _all_mixed_bindable(params, set(kinds))
        if kind is str:
            text = "".join(params)
            return "\0" not in text and (text.isascii() or bool(text.encode()))  # encode() refuses a lone surrogate
        return math.hypot(*params) < _SAFE_LENGTH if kind in _NUMBERS else kind in _UNCHECKED
    except (ValueError, OverflowError):
        return False


def _all_mixed_bindable(params: Collection[Any], kinds: set[type]) -> bool:
    if not kinds <= _BINDABLE_TYPES:
        return False
    if str in kinds:
        text = "".join([value for value in params if type(value) is str])
        if "\0" in text or not (text.isascii() or text.encode()):
            return False
    numbers = params if kinds <= _NUMBERS else [value for value in params if type(value) in _NUMBERS]
    return math.hypot(*numbers) < _SAFE_LENGTH


def getter(path: str) -> Callable[[Any], Any]:
    """Return a function that looks up a path such as ``user_group.id``. The function raises LookupError or TypeError if
    there is no value."""
    first, *rest = path.split(".")
    if not rest:
        return itemgetter(first)

    def get(values: Any) -> Any:
        value = values[first]
        for name in rest:
            value = (value._values if type(value) is Record else value)[name]  # cheaper than Record.__getitem__
        return value

    return get


def getter_or_none(path: str) -> Callable[[Any], Any]:
    get = getter(path)

    def get_or_none(values: Any) -> Any:
        try:
            return get(values)
        except UNREADABLE:
            return None

    return get_or_none


def look_up(variables: Any, path: str) -> Any:
    value = variables
    try:
        for name in path.split("."):
            if type(value) is Record and name not in value:  # an exception takes ten times as long
                return MISSING
            value = value[name]
    except UNREADABLE:
        return MISSING
    return value


def is_absent(value: Any) -> bool:
    return value is None or value is MISSING


def check_scalar(value: Any) -> Any:
    """Return the value, a subclass of ``str`` as a plain string. Raises ValueError if the value cannot be bound."""
    kind = type(value)
    if kind is str:
        return _check_text(value)
    if kind in _UNCHECKED:
        return value
    if kind is int:
        if _has_64_bits(value):
            return value
        raise ValueError("an integer beyond 64 bits cannot be bound")
    if isinstance(value, str):
        return _check_text(str.__str__(value))
    if kind is float or kind is Decimal:
        if value.is_finite() if kind is Decimal else math.isfinite(value):
            return value
        raise ValueError("infinity and not-a-number cannot be bound")
    name = type_name(value)
    raise ValueError(f"{name} cannot be bound{_HINTS.get(name, '')}")


def as_text(value: Any) -> str:
    """Return a value as a string: dates in ISO 8601, booleans as ``true`` or ``false``. Raises ValueError for a value
    that ``check_scalar`` refuses or that cannot be a string, such as bytes."""
    value = check_scalar(value)
    convert = _TEXT_CONVERSIONS.get(type(value))
    if convert is None:
        raise ValueError(f"{type_name(value)} cannot be in a string: move its tag out of the quotes")
    return convert(value)


def list_items(value: Any) -> list[Any]:
    """Return the items of a list. Raises ValueError for a value of another type, and for an item that ``check_scalar``
    refuses."""
    if not isinstance(value, list | tuple | RecordList):
        raise ValueError(f"a list is needed here, not {type_name(value)}")  # noqa: TRY004  # as for any other refusal
    items: list[Any] = []
    for item in value:
        try:
            items.append(check_scalar(item))
        except ValueError as refusal:
            problem = _NULL_ITEM if item is None else str(refusal)
            raise ValueError(f"item {len(items)} of the list: {problem}") from None
    return items


def _check_text(value: str) -> str:
    if "\0" in value:
        raise ValueError("a string with a NUL cannot be bound")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("a string with a lone surrogate cannot be bound") from None
    return value


def type_name(value: Any) -> str:
    if isinstance(value, Mapping | Record):
        return "an object"
    if isinstance(value, list | tuple | RecordList):
        return "a list"
    return f"a value of type {type(value).__name__}"


_NULL_ITEM = "NULL in a list matches nothing, and makes `not in` lose every row: remove the NULL"
_TEXT_CONVERSIONS: dict[type, Callable[[Any], str]] = {
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
_HINTS = {
    "an object": ": name one of its values, with a dot",
    "a list": " here: write `in` or `not in` before it; or, where the engine has arrays, write {{ name | array }}",
}
