"""Declared parameters: what a viewer may choose, typed by the author of the template (docs/sql-parameters.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from tenantry.errors import TemplateError
from tenantry.sql.binding.conversions import PATTERNS

MAX_ITEMS: Final = 1_000
"""Items of a list whose definition gives no ``max_items``."""
NAME: Final = re.compile(r"[^\W\d_]\w*")
"""A parameter's name."""
MATCHINGS: Final = ("equals", *PATTERNS)
"""How ``matches`` compares a text with a column."""
UTC_ZONE: Final = ZoneInfo("UTC")
_LISTED_CHOICES = 20


class ParameterType(StrEnum):
    """What one value is; a parameter is one value, or a list of them (but for ranges)."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    UUID = "uuid"
    INTERVAL = "interval"
    CHOICE = "choice"
    DATE_RANGE = "date range"
    DATETIME_RANGE = "datetime range"
    RELATIVE_RANGE = "relative range"


TEXTS: Final = frozenset({ParameterType.TEXT, ParameterType.CHOICE})
"""Types whose values are texts."""
RANGES: Final = frozenset({ParameterType.DATE_RANGE, ParameterType.DATETIME_RANGE, ParameterType.RELATIVE_RANGE})
"""Types with a ``start`` and an ``end``."""
RANGE_ENDS: Final = ("start", "end")
INSTANTS: Final = frozenset({ParameterType.DATETIME, ParameterType.DATETIME_RANGE, ParameterType.RELATIVE_RANGE})
"""Types whose values are datetimes."""

_ENDS: Final[Mapping[ParameterType, ParameterType]] = {
    ParameterType.DATE_RANGE: ParameterType.DATE,
    ParameterType.DATETIME_RANGE: ParameterType.DATETIME,
    ParameterType.RELATIVE_RANGE: ParameterType.DATETIME,
}


class InvalidDefinition(TemplateError):
    """A parameter is not declared as it can be. ``keys`` lead to what is wrong: ``("period", "min")``, from ``params``
    on; ``fix`` says what to write."""

    def __init__(self, message: str, *, keys: tuple[str, ...], problem: str, fix: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.problem = problem
        self.fix = fix


def invalid_definition(keys: tuple[str, ...], problem: str, fix: str) -> InvalidDefinition:
    """The error, with its message."""
    message = f"{'.'.join(('params', *keys))}: {problem}\n  fix: {fix}"
    return InvalidDefinition(message, keys=keys, problem=problem, fix=fix)


@dataclass(frozen=True, slots=True)
class PropertyReference:
    """A property of the user group: names joined by dots, below ``user_group.properties``."""

    path: str


class Bounds(NamedTuple):
    """A range: from ``start``, to just before ``end``. An end that is None is open."""

    start: Any
    end: Any


class Nullable(NamedTuple):
    """The value of a parameter that is for ``matches`` alone: what was sent beside the word for NULL (None, or an empty
    tuple, if nothing), and whether that word was."""

    value: Any
    null: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One declared parameter; ``declare`` makes them.

    ``default`` is a typed value (a tuple for a list, a name or Bounds for a range), a PropertyReference, or None.
    ``choices`` are typed values, each with its text for people in ``labels``; ``choices_query`` names the query that
    fills the control instead, and then a value is checked by its type alone. ``zone`` is the time zone in which a day
    begins, UTC if it is None. ``open`` holds ``start``, ``end`` or both where a range may lack it. ``is_null`` is the
    text that asks for NULL, and ``match`` how a text is compared (``equals``, ``contains``, ``prefix``, ``suffix``):
    both are for ``matches``. ``clearable``: an empty text that is sent asks for no value, in spite of the default.
    """

    name: str
    type: ParameterType
    is_list: bool = False
    label: str = ""
    description: str = ""
    default: Any = None
    required: bool = False
    locked: bool = False
    min: Any = None
    max: Any = None
    max_length: int | None = None
    max_items: int | None = None
    choices: tuple[Any, ...] | None = None
    labels: tuple[str, ...] = ()
    choices_query: str | None = None
    zone: tzinfo | PropertyReference | None = None
    open: frozenset[str] = frozenset()
    is_null: str | None = None
    match: str = "equals"
    clearable: bool = False

    @property
    def path(self) -> str:
        """Its path in a template: ``params.region``."""
        return f"params.{self.name}"

    @property
    def kind(self) -> str:
        """Its type as it is declared: ``list of text``."""
        return f"list of {self.type}" if self.is_list else self.type

    @property
    def is_range(self) -> bool:
        """Whether it has a ``start`` and an ``end``."""
        return self.type in RANGES

    @property
    def only_matches(self) -> bool:
        """Whether it has a meaning for ``matches`` alone: it can ask for NULL, or is a part of a text."""
        return self.is_null is not None or self.match != "equals"

    @property
    def part(self) -> str:
        """Where ``only_matches``: what its value is called beside ``null``."""
        if self.is_list:
            return "values"
        return "value" if self.match == "equals" else "pattern"

    @property
    def scalar_type(self) -> ParameterType:
        """The type of one value, or of each end of a range."""
        return _ENDS.get(self.type, self.type)

    def end(self, name: str) -> Parameter:
        """``start`` or ``end`` of a range, as a parameter of its own."""
        given = self.always_given and name not in self.open
        return Parameter(
            name=f"{self.name}.{name}", type=self.scalar_type, required=given, locked=self.locked, zone=self.zone
        )

    @property
    def always_given(self) -> bool:
        """Whether a template that is bound always has a value for it: it is required, or has a default that stays."""
        return self.required or (self.default is not None and not self.clearable)

    @property
    def properties(self) -> tuple[str, ...]:
        """The paths of the group's properties that it may read."""
        return tuple(each.path for each in (self.default, self.zone) if isinstance(each, PropertyReference))

    @property
    def takes(self) -> str:
        """What a viewer may send, for people: ``a whole number from 1 to 1000``."""
        one = _one_of(self.choices) if self.choices is not None else _TAKES[self.type] + self._limits()
        if self.is_null is not None:
            one += f" or {self.is_null}"
        if self.is_list:
            return f"a list of at most {self.max_items}, each {one}"
        return one

    def _limits(self) -> str:
        text = f" of at most {self.max_length} characters" if self.max_length is not None else ""
        if self.min is not None:
            text += f" from {spell(self.min)}"
        if self.max is not None:
            text += f" {'to' if self.min is not None else 'up to'} {spell(self.max)}"
        if self.is_range and self.open:
            text += f", without the {' or the '.join(sorted(self.open, reverse=True))} if you like"
        return text


def find_parameter(parameters: Mapping[str, Parameter], path: str) -> Parameter | None:
    """What is declared for a path: ``params.period``, or an end of a range, ``params.period.start``. None for other
    parts, and for what is not declared."""
    root, _, names = path.partition(".")
    name, _, part = names.partition(".")
    parameter = parameters.get(name) if root == "params" else None
    if parameter is None or not part:
        return parameter
    return parameter.end(part) if parameter.is_range and part in RANGE_ENDS else None


def locked_paths(parameters: Mapping[str, Parameter]) -> frozenset[str]:
    """The paths of the parameters that no viewer can set."""
    return frozenset(each.path for each in parameters.values() if each.locked)


_TAKES: Final[Mapping[ParameterType, str]] = {
    ParameterType.TEXT: "a text",
    ParameterType.INTEGER: "a whole number",
    ParameterType.DECIMAL: "a number",
    ParameterType.BOOLEAN: "true or false",
    ParameterType.DATE: "a date such as 2026-01-31",
    ParameterType.DATETIME: "a date and time such as 2026-01-31T09:30",
    ParameterType.UUID: "a UUID",
    ParameterType.INTERVAL: "a length of time such as 15 minutes",
    ParameterType.CHOICE: "one of the choices",
    ParameterType.DATE_RANGE: "two dates such as 2026-01-01..2026-01-31, or last 30 days",
    ParameterType.DATETIME_RANGE: "two times such as 2026-01-01T09:00..2026-01-01T17:00, or last 30 days",
    ParameterType.RELATIVE_RANGE: "a range such as last 30 days",
}


def spell(value: Any) -> str:
    """A value of the author's own, as a viewer would send it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _one_of(choices: tuple[Any, ...]) -> str:
    listed = ", ".join(map(spell, choices[:_LISTED_CHOICES]))
    rest = len(choices) - _LISTED_CHOICES
    return f"one of {listed}" + (f" and {rest} more" if rest > 0 else "")
