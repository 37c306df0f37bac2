"""The calendar of a dashboard's group: the group's time zone, and the day on which the group's weeks begin."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final

from tenantry.errors import UnbindableValue
from tenantry.groups import Record
from tenantry.sql.binding.bindable_values import is_absent, look_up
from tenantry.sql.dialects import Dialect
from tenantry.sql.parameters.declared import (
    SUNDAYS_NAME,
    UTC_ZONE,
    WEEK_START,
    WEEK_STARTS,
    ZONE_NAME,
    Bounds,
    PropertyReference,
    ZoneOfGroup,
)
from tenantry.sql.parameters.definitions import find_zone

_TWO_DAYS: Final = timedelta(days=2)  # zones differ by up to 26 hours


def day_bounds(days: Bounds, zone: tzinfo | None, dialect: Dialect) -> dict[str, Any]:
    if zone is None:
        if days.until is None:
            return {}
        zone = UTC_ZONE
    found: dict[str, Any] = {}
    for names, day, further in (
        (("before", "from"), days.start, -_TWO_DAYS),
        (("beyond", "until"), days.end, _TWO_DAYS),
    ):
        if day is not None:
            try:
                nearby, midnight = day + further, datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
            except OverflowError:  # on the first or last days of the calendar
                nearby, midnight = day, datetime.combine(day, time(), tzinfo=UTC)
            adapted = _adapted(dialect, "date", nearby), _adapted(dialect, "datetime", midnight)
            found |= zip(names, adapted, strict=True)
    if days.until is not None:
        found["until"] = _adapted(dialect, "datetime", days.until.astimezone(UTC))
    return found


def _adapted(dialect: Dialect, kind: str, value: date) -> Any:
    adapt = dialect.bind_as.get(kind)
    return value if adapt is None else adapt(value)


def zone_of_group(reference: ZoneOfGroup, variables: Mapping[str, Any] | Record) -> tzinfo | None:
    """Return the group's time zone. If the property is missing or empty, return ``reference.otherwise``. Raises
    UnbindableValue if the property's value is not a time zone."""
    name = read_property(variables, reference)
    return reference.otherwise if is_absent(name) or name == "" else found_zone(reference, name, "this dashboard")


def weeks_from_sunday(reference: ZoneOfGroup, variables: Mapping[str, Any] | Record) -> bool:
    """Whether the group's weeks begin on Sunday. Raises UnbindableValue if the property WEEK_START is neither
    ``monday`` nor ``sunday``."""
    day = read_property(variables, PropertyReference(WEEK_START))
    if is_absent(day) or day == "":
        return reference.sundays
    if day not in WEEK_STARTS:
        problem = f"weeks begin on {' or '.join(WEEK_STARTS)}, but the property {WEEK_START} is neither"
        raise UnbindableValue(problem, name=f"user_group.properties.{WEEK_START}")
    return bool(day == WEEK_STARTS[1])


def calendar_values(reference: ZoneOfGroup, variables: Mapping[str, Any] | Record) -> dict[str, Any]:
    zone, sundays = zone_of_group(reference, variables), weeks_from_sunday(reference, variables)
    return ({} if zone is None else {ZONE_NAME: str(zone)}) | ({SUNDAYS_NAME: True} if sundays else {})


def found_zone(reference: PropertyReference, name: Any, what: str) -> tzinfo:
    found = find_zone(name)
    if found is None:
        raise UnbindableValue(
            f"{what} needs a time zone such as Europe/Vienna, but the property {reference.path} does not hold one",
            name=f"user_group.properties.{reference.path}",
        )
    return found


def read_property(variables: Mapping[str, Any] | Record, reference: PropertyReference) -> Any:
    # If the variables have no `user_group`, their top level holds the properties.
    root = "user_group.properties." if "user_group" in variables else ""
    return look_up(variables, root + reference.path)
