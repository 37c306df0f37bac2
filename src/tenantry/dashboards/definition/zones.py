# The zone of a dashboard applies to its page, and to each query (and its CSV file) whose header names no zone.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any, Final, TypeVar

from tenantry.dashboards.definition.value_kinds import Schema, ValueKind, refuse
from tenantry.groups import Record
from tenantry.sql import Source, SQLTemplate
from tenantry.sql.header import YamlNode
from tenantry.sql.parameters import (
    INSTANTS,
    RANGES,
    TEXTS,
    WEEK_START,
    WEEK_STARTS,
    Parameter,
    PropertyReference,
    ZoneOfGroup,
    find_zone,
    zone_of_group,
)

Template = TypeVar("Template", bound=SQLTemplate)

TIMEZONE: Final = "timezone"
"""Name of the group's property that sets the time zone. If the group lacks it, the key of this name in the
dashboard's file sets the time zone."""
_ZONED: Final = RANGES | INSTANTS | TEXTS  # strings too, because they may be the units of `trunc`


@dataclass(frozen=True, slots=True)
class ZoneName(ValueKind):
    """A time zone's name, converted to a ``tzinfo``."""

    def read(self, node: YamlNode, source: Source) -> tzinfo:
        zone = find_zone(node.value)
        if zone is None:
            raise refuse(source, node, "this is not a time zone", "write a name such as Europe/Vienna")
        return zone

    def schema(self) -> Schema:
        return {"type": "string", "title": "the name of a time zone, such as Europe/Vienna"}


def zone_reference(top: Mapping[str, Any]) -> ZoneOfGroup:
    return ZoneOfGroup(TIMEZONE, top.get(TIMEZONE), sundays=top.get(WEEK_START) == WEEK_STARTS[1])


def in_zone(parameter: Parameter, zone: ZoneOfGroup) -> Parameter:
    """Return the parameter with this time zone. If its definition names a zone, return it unchanged."""
    return replace(parameter, zone=zone) if parameter.zone is None and parameter.type in _ZONED else parameter


def template_in_zone(template: Template, zone: ZoneOfGroup) -> Template:
    changed = {name: in_zone(each, zone) for name, each in template.parameters.items() if each.zone is None}
    return template.redeclaring(changed) if changed else template


def declared_zone(template: SQLTemplate, of_dashboard: ZoneOfGroup) -> tzinfo | PropertyReference:
    """If the query's header names exactly one time zone, return that zone, otherwise the dashboard's zone."""
    if not template.parameters:
        return of_dashboard
    named = {each.zone for each in template.parameters.values()}
    own = [each for each in named if each is not None and not isinstance(each, ZoneOfGroup)]
    return own.pop() if len(own) == 1 else of_dashboard


def zone_for(zone: tzinfo | PropertyReference, variables: Mapping[str, Any] | Record) -> tzinfo | None:
    """Return ``zone``. If it refers to a property, return the zone that the property names. If the group lacks the
    property, return ``zone.otherwise`` or None. Raises UnbindableValue if the property does not name a zone."""
    if not isinstance(zone, PropertyReference):
        return zone
    return zone_of_group(zone if isinstance(zone, ZoneOfGroup) else ZoneOfGroup(zone.path), variables)
