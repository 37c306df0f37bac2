from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from tenantry.errors import Edit, TemplateError
from tenantry.sql.binding.conversions import PATTERNS

MAX_ITEMS: Final = 1_000
"""Default maximum number of items in a list."""
NAME: Final = re.compile(r"[^\W\d_]\w*")
MATCHINGS: Final = ("equals", *PATTERNS)
"""Ways in which ``matches`` can compare a string with a column."""
UTC_ZONE: Final = ZoneInfo("UTC")
_LISTED_CHOICES = 20


class ParameterType(StrEnum):
    """Type of a parameter's value, or of each item of a list."""

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
"""Types whose values are strings."""
RANGES: Final = frozenset({ParameterType.DATE_RANGE, ParameterType.DATETIME_RANGE, ParameterType.RELATIVE_RANGE})
"""Types with a ``start`` and an ``end``."""
RANGE_ENDS: Final = ("start", "end")
DAY_BOUNDS: Final = ("before", "beyond", "from", "until")
"""Parts that a date range in a ZoneOfGroup has in addition to ``start`` and ``end``. ``before`` and ``beyond`` are
dates two days before and after the range, so they are outside of the range in every zone. ``from`` and ``until`` are
the instants at which the range begins and ends."""
ZONE_NAME: Final = "_zone"
SUNDAYS_NAME: Final = "_sundays"
CALENDAR_NAMES: Final = frozenset({ZONE_NAME, SUNDAYS_NAME})
"""Names of two values in ``params``. ZONE_NAME has the name of the group's time zone, and SUNDAYS_NAME says whether
weeks begin on Sunday. A declared parameter cannot have one of these names."""
WEEK_START: Final = "week_start"
"""Name of the property that sets the first day of a group's weeks. The key in a dashboard's file has the same name."""
WEEK_STARTS: Final = ("monday", "sunday")
INSTANTS: Final = frozenset({ParameterType.DATETIME, ParameterType.DATETIME_RANGE, ParameterType.RELATIVE_RANGE})
"""Types of datetimes, and of ranges between two datetimes."""

_ENDS: Final[Mapping[ParameterType, ParameterType]] = {
    ParameterType.DATE_RANGE: ParameterType.DATE,
    ParameterType.DATETIME_RANGE: ParameterType.DATETIME,
    ParameterType.RELATIVE_RANGE: ParameterType.DATETIME,
}


class InvalidDefinition(TemplateError):
    """A parameter's definition is malformed. ``keys`` are the path from ``params`` to the problem, such as
    ``("period", "min")``."""

    def __init__(
        self, message: str, *, keys: tuple[str, ...], problem: str, fix: str, edit: Edit | None = None
    ) -> None:
        super().__init__(message, problem=problem, fix=fix, edit=edit)
        self.keys = keys


def invalid_definition(keys: tuple[str, ...], problem: str, fix: str, edit: Edit | None = None) -> InvalidDefinition:
    message = f"{'.'.join(('params', *keys))}: {problem}\n  fix: {fix}"
    return InvalidDefinition(message, keys=keys, problem=problem, fix=fix, edit=edit)


@dataclass(frozen=True, slots=True)
class PropertyReference:
    """A property of the group. ``path`` begins below ``user_group.properties``."""

    path: str


@dataclass(frozen=True, slots=True)
class ZoneOfGroup(PropertyReference):
    """The time zone of a dashboard's group: the property at ``path``, or ``otherwise`` if the group lacks the property.
    If both are missing, "today" is the current date in UTC, and the engine decides how a column compares with days."""

    # Column filters compare a column with days in this zone: a date directly, an instant with the midnights at which
    # the days begin and end. A timestamp without a time zone is taken to be in UTC.

    otherwise: tzinfo | None = None
    sundays: bool = False
    """Whether weeks begin on Sunday in a group without the property WEEK_START."""


class Bounds(NamedTuple):
    """A range that includes ``start`` but not ``end``. None means no limit on that side."""

    start: Any
    end: Any
    until: datetime | None = None
    """The instant at which a date range ends, if it ends before its last day is over. Only columns with a time are
    compared with ``until``."""


class Nullable(NamedTuple):
    """The value of a parameter that can be NULL or a pattern. ``null``: whether the viewer sent the word for NULL."""

    value: Any
    null: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A declared parameter. ``declare`` makes it from its definition."""

    name: str
    type: ParameterType
    is_list: bool = False
    label: str = ""
    description: str = ""
    default: Any = None
    """A typed value, a PropertyReference, or None. For a list, the typed value is a tuple. For a range, it is a
    RelativeRange or Bounds.

    If the time zone is a property of a group, a default instant is still a string, because the zone is not known yet.
    """
    required: bool = False
    locked: bool = False
    """Whether the value comes from a property of the group, so that no viewer can set it."""
    min: Any = None
    max: Any = None
    max_length: int | None = None
    max_items: int | None = None
    choices: tuple[Any, ...] | None = None
    """Typed values."""
    labels: tuple[str, ...] = ()
    """Strings that a page shows for the choices."""
    choices_query: str | None = None
    """Name of a query that returns the choices. If set, Tenantry checks only the type of a value."""
    zone: tzinfo | PropertyReference | None = None
    """Time zone of dates and times; None for UTC."""
    open: frozenset[str] = frozenset()
    """The ends of a range that a viewer may leave out: ``start``, ``end`` or both."""
    is_null: str | None = None
    """The word that a viewer sends to select NULL."""
    match: str = "equals"
    """One of MATCHINGS."""
    clearable: bool = False
    """Whether a viewer can send an empty string to get no value, even if the parameter has a default."""

    @property
    def path(self) -> str:
        """Path in templates, such as ``params.region``."""
        return f"params.{self.name}"

    @property
    def kind(self) -> str:
        """The declared type, such as ``list of text``."""
        return f"list of {self.type}" if self.is_list else self.type

    @property
    def is_range(self) -> bool:
        """Whether the value has a ``start`` and an ``end``."""
        return self.type in RANGES

    @property
    def only_matches(self) -> bool:
        """Whether the value can be NULL or a pattern. Only ``matches`` and ``excludes`` can use such a parameter."""
        return self.is_null is not None or self.match != "equals"

    @property
    def part(self) -> str:
        """The last name in the path of the value, such as ``value`` in ``params.region.value``. Only used if
        ``only_matches`` is true."""
        if self.is_list:
            return "values"
        return "value" if self.match == "equals" else "pattern"

    @property
    def scalar_type(self) -> ParameterType:
        """Type of one value, or of one end of a range."""
        return _ENDS.get(self.type, self.type)

    @property
    def has_days_of_group(self) -> bool:
        """Whether the parameter is a date range whose time zone is a ZoneOfGroup."""
        return self.type is ParameterType.DATE_RANGE and isinstance(self.zone, ZoneOfGroup)

    def end(self, name: str) -> Parameter:
        """Return a part of a range as a parameter. ``name`` is one of RANGE_ENDS or DAY_BOUNDS."""
        given = self.always_given and name in RANGE_ENDS and name not in self.open
        type_ = ParameterType.DATETIME if name in {"from", "until"} else self.scalar_type
        return Parameter(name=f"{self.name}.{name}", type=type_, required=given, locked=self.locked, zone=self.zone)

    @property
    def always_given(self) -> bool:
        """Whether a bound template always has a value for the parameter."""
        return self.required or (self.default is not None and not self.clearable)

    @property
    def properties(self) -> tuple[str, ...]:
        """Paths of the properties that the default and the time zone refer to. A ZoneOfGroup is left out, because a
        group may lack that property."""
        named = (each for each in (self.default, self.zone) if isinstance(each, PropertyReference))
        return tuple(each.path for each in named if not isinstance(each, ZoneOfGroup))

    @property
    def takes(self) -> str:
        """Describes the values that a viewer may send, such as ``a whole number from 1 to 1000``."""
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
            text += f", and the {' or the '.join(sorted(self.open, reverse=True))} may be left out"
        return text


def find_parameter(parameters: Mapping[str, Parameter], path: str) -> Parameter | None:
    """Return the parameter at a path such as ``params.region`` or ``params.period.start``."""
    root, _, names = path.partition(".")
    name, _, part = names.partition(".")
    parameter = parameters.get(name) if root == "params" else None
    if parameter is None or not part:
        return parameter
    is_part = part in RANGE_ENDS or (part in DAY_BOUNDS and parameter.has_days_of_group)
    return parameter.end(part) if parameter.is_range and is_part else None


def locked_paths(parameters: Mapping[str, Parameter]) -> frozenset[str]:
    return frozenset(each.path for each in parameters.values() if each.locked)


_TAKES: Final[Mapping[ParameterType, str]] = {
    ParameterType.TEXT: "text",
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
    """Return an author's value as the string that a viewer would send for it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _one_of(choices: tuple[Any, ...]) -> str:
    listed = ", ".join(map(spell, choices[:_LISTED_CHOICES]))
    rest = len(choices) - _LISTED_CHOICES
    return f"one of {listed}" + (f" and {rest} more" if rest > 0 else "")
