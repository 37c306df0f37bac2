"""Converts the viewer input of a request. Input without a declared parameter is dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, TypeAlias

from tenantry.errors import InvalidParameter, MissingVariable, UnbindableValue
from tenantry.groups import Record
from tenantry.sql.binding.bindable_values import is_absent
from tenantry.sql.binding.conversions import converter
from tenantry.sql.dialects import Dialect
from tenantry.sql.parameters.calendars import (
    calendar_values,
    day_bounds,
    found_zone,
    read_property,
    weeks_from_sunday,
    zone_of_group,
)
from tenantry.sql.parameters.declared import (
    INSTANTS,
    RANGE_ENDS,
    UTC_ZONE,
    Nullable,
    Parameter,
    PropertyReference,
    ZoneOfGroup,
)
from tenantry.sql.parameters.relative_ranges import RelativeRange
from tenantry.sql.parameters.typed_values import (
    REFUSALS,
    EmptyRange,
    Moment,
    is_empty,
    read_value,
    read_whole,
    resolve,
)

_Adapter: TypeAlias = Callable[[Any], Any]
_NO_CLOCK = datetime(1, 1, 1, tzinfo=UTC)  # for types that do not use the current time
_UNREADABLE: Final = object()
_record_values = vars(Record)["_values"].__get__


class ParameterConversion:
    __slots__ = ("_parameters", "_zone", "reads_group", "uses_clock")

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._parameters = tuple(parameters.values())
        zones = (each.zone for each in self._parameters)
        self._zone = next((zone for zone in zones if isinstance(zone, ZoneOfGroup)), None)
        self.uses_clock: bool = any(each.is_range for each in self._parameters)
        self.reads_group: bool = any(each.properties for each in self._parameters)
        """Whether a default or a time zone, other than a ZoneOfGroup, is a property of the group."""

    def convert(self, variables: Mapping[str, Any] | Record, dialect: Dialect, now: datetime | None) -> dict[str, Any]:
        """Return the variables with typed values in ``params``. The value of a list is a tuple. The value of a range is
        a dict with the keys ``start`` and ``end``.

        Raises one InvalidParameter that lists all bad values. Raises MissingVariable if the property of a default or a
        time zone is missing (a ZoneOfGroup may be missing), and UnbindableValue if the property's value does not fit.
        Raises ValueError if a range is declared and ``now`` is missing or naive.
        """
        if self.uses_clock and (now is None or now.tzinfo is None):
            raise ValueError("a parameter that is a range needs the current time: call bind(…, now=datetime.now(UTC))")
        values = _as_dict(variables, "variables").copy()
        sent = values.get("params")
        given = {} if sent is None else _as_dict(sent, "params")
        request = _Request(values, given, now or _NO_CLOCK)
        converted: dict[str, Any] = {}
        for parameter in self._parameters:
            value = request.value(parameter)
            if value is not None:
                is_pattern = parameter.match != "equals"
                adapt = (
                    converter(parameter.match, dialect) if is_pattern else dialect.bind_as.get(parameter.scalar_type)
                )
                converted[parameter.name] = bindable(parameter, value, adapt)
                if parameter.has_days_of_group and isinstance(parameter.zone, ZoneOfGroup):
                    converted[parameter.name] |= day_bounds(value, zone_of_group(parameter.zone, values), dialect)
        request.raise_problems()
        if self._zone is not None:
            converted |= calendar_values(self._zone, values)
        values["params"] = converted
        return values


def typed_value(parameter: Parameter, variables: Mapping[str, Any] | Record, now: datetime) -> Any:
    """Return the typed value that the viewer sent for a parameter, else the default, else None. Raises the errors of
    ``ParameterConversion.convert``."""
    values = _as_dict(variables, "variables")
    sent = values.get("params")
    request = _Request(values, {} if sent is None else _as_dict(sent, "params"), now)
    value = request.value(parameter)
    request.raise_problems()
    return value


def _as_dict(mapping: Any, what: str) -> dict[str, Any]:
    if type(mapping) is dict:
        return mapping
    if type(mapping) is Record:
        inner: dict[str, Any] = _record_values(mapping)
        return inner
    if not isinstance(mapping, Mapping | Record):
        raise TypeError(f"{what} must be a mapping, not {type(mapping).__name__}")
    return {name: mapping[name] for name in mapping}


def bindable(parameter: Parameter, value: Any, adapt: _Adapter | None) -> Any:
    """Convert a typed value for binding. ``adapt`` converts a scalar for the dialect."""
    if parameter.is_range:
        ends = zip(RANGE_ENDS, (value.start, value.end), strict=True)
        return {name: adapt(end) if adapt is not None else end for name, end in ends if end is not None}
    if isinstance(value, Nullable):
        return _nullable(parameter, value, adapt)
    if adapt is None:
        return value
    return tuple(map(adapt, value)) if parameter.is_list else adapt(value)


def _nullable(parameter: Parameter, value: Nullable, adapt: _Adapter | None) -> dict[str, Any]:
    found: dict[str, Any] = {"null": True} if value.null else {}
    if value.value is not None and (value.value != () or not value.null):
        found[parameter.part] = bindable(parameter, value.value, adapt)
    return found


class _Request:
    def __init__(self, variables: Mapping[str, Any], given: Mapping[str, Any], now: datetime) -> None:
        self._variables = variables
        self._given = given
        self._now = now
        self._problems: dict[str, str] = {}
        self._missing: dict[str, str] = {}

    def raise_problems(self) -> None:
        if self._problems:
            listed = "; ".join(f"{path} {problem}" for path, problem in self._problems.items())
            raise InvalidParameter(listed, names=tuple(self._problems))
        if self._missing:
            listed = "; ".join(f"{path} (for {parameter})" for path, parameter in self._missing.items())
            raise MissingVariable(
                f"properties without a value: {listed}. Set them on the group", names=tuple(self._missing)
            )

    def value(self, parameter: Parameter) -> Any:
        zone = self._zone(parameter)
        if zone is None:
            return None
        own = parameter.zone
        sundays = isinstance(own, ZoneOfGroup) and weeks_from_sunday(own, self._variables)
        moment = Moment(zone, self._now, sundays)
        raw = self._raw(parameter)
        if parameter.locked:
            if not is_empty(raw):
                self._problems[parameter.path] = "cannot be set by a viewer"
            raw = None
        if parameter.clearable and raw is not None and is_empty(raw):
            return None
        try:
            value = None if raw is None else read_value(parameter, raw, moment)
        except EmptyRange as refusal:
            self._problems[parameter.path] = f"{refusal}, and takes {parameter.takes}"
            return None
        except REFUSALS:
            self._problems[parameter.path] = f"takes {parameter.takes}"
            return None
        if value is not None:
            return value
        if parameter.required:
            self._problems[parameter.path] = f"is required, and takes {parameter.takes}"
        return self._default(parameter, moment)

    def _raw(self, parameter: Parameter) -> Any:
        given, name = self._given, parameter.name
        raw = given.get(name)
        if parameter.is_range:  # forms send a field for each end
            ends = {end: given[f"{name}.{end}"] for end in RANGE_ENDS if f"{name}.{end}" in given}
            if ends and not all(map(is_empty, ends.values())):
                return ends if is_empty(raw) else _UNREADABLE
        return raw

    def _default(self, parameter: Parameter, moment: Moment) -> Any:
        default = parameter.default
        if isinstance(default, PropertyReference):
            raw = read_property(self._variables, default)
            if is_absent(raw):
                self._missing[f"user_group.properties.{default.path}"] = parameter.path
                return None
            return self._fitting(parameter, default, raw, moment)
        if isinstance(default, RelativeRange):
            return resolve(parameter, default, moment)
        if default is not None and parameter.type in INSTANTS and isinstance(parameter.zone, PropertyReference):
            return read_value(parameter, default, moment)  # a local time of the group's zone
        return default

    def _fitting(self, parameter: Parameter, reference: PropertyReference, raw: Any, moment: Moment) -> Any:
        value = None
        with suppress(*REFUSALS):
            read = read_value if parameter.only_matches else read_whole
            value = read(parameter, raw, moment)
        if value is None:
            raise UnbindableValue(
                f"the property {reference.path} does not fit {parameter.path}, which takes {parameter.takes}: "
                "correct the property on the group",
                name=f"user_group.properties.{reference.path}",
            )
        return value

    def _zone(self, parameter: Parameter) -> tzinfo | None:
        zone = parameter.zone
        if not isinstance(zone, PropertyReference):
            return zone if zone is not None else UTC_ZONE
        if isinstance(zone, ZoneOfGroup):
            return zone_of_group(zone, self._variables) or UTC_ZONE
        name = read_property(self._variables, zone)
        if is_absent(name):
            self._missing[f"user_group.properties.{zone.path}"] = parameter.path
            return None
        return found_zone(zone, name, parameter.path)
