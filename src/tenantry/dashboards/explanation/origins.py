"""Where a value comes from that a template reads: pure, without the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tenantry.groups import Record
from tenantry.sql import VariableReference, is_absent, look_up
from tenantry.sql.parameters import RANGE_ENDS, Parameter, PropertyReference, RelativeRange, is_empty, parse_relative

_GROUP: Final = "user_group."
_PROPERTIES: Final = "user_group.properties."
_PARAMS: Final = "params."


class Origin(StrEnum):
    """What decides a value. CLOCK: a range such as ``last 30 days``, at this moment."""

    PROPERTY = "property"
    GROUP = "group"
    DEFAULT = "default"
    VIEWER = "viewer"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """``path`` is what the template reads. ``of``: which property, or which field of the group, or the name of a range;
    ``by``: who chose that range, DEFAULT or VIEWER. ``zone``: the property that says in which time zone a day begins.
    """

    path: str
    origin: Origin
    of: str = ""
    by: Origin | None = None
    zone: str = ""

    def as_dict(self) -> dict[str, str]:
        """As JSON, without what is empty."""
        given = {"path": self.path, "origin": str(self.origin), "of": self.of, "zone": self.zone}
        return {name: text for name, text in given.items() if text} | ({} if self.by is None else {"by": str(self.by)})


def group_origin(path: str) -> ValueOrigin:
    """Of a path that is not ``params.*``: ``region`` is a property, and ``user_group.name`` is no property."""
    if path.startswith(_GROUP) and not path.startswith(_PROPERTIES):
        return ValueOrigin(path, Origin.GROUP, path.removeprefix(_GROUP))
    return ValueOrigin(path, Origin.PROPERTY, path.removeprefix(_PROPERTIES))


def text_origin(path: str) -> ValueOrigin:
    """Of a path in a text of a dashboard, where nothing has a default."""
    return ValueOrigin(path, Origin.VIEWER) if path.startswith(_PARAMS) else group_origin(path)


def reference_origin(
    reference: VariableReference, parameters: Mapping[str, Parameter], variables: Mapping[str, Any] | Record
) -> ValueOrigin:
    """Of a tag in a query. ``parameters`` are those that the query declares; ``variables`` are what it is bound with,
    before anything is typed."""
    path = reference.path
    if path.startswith(_PARAMS):
        return _chosen(path, parameters, variables["params"])
    if reference.never_absent and is_absent(look_up(variables, path)):
        return ValueOrigin(path, Origin.DEFAULT)
    return group_origin(path)


def _chosen(path: str, parameters: Mapping[str, Parameter], params: Mapping[str, Any] | Record) -> ValueOrigin:
    name = path.split(".")[1]
    parameter = parameters.get(name)
    sent = [params[key] for key in (name, *(f"{name}.{end}" for end in RANGE_ENDS)) if key in params]
    given = next((value for value in sent if not is_empty(value)), None)
    if parameter is None:
        return ValueOrigin(path, Origin.DEFAULT if given is None else Origin.VIEWER)
    zone = parameter.zone.path if isinstance(parameter.zone, PropertyReference) else ""
    if parameter.locked or given is None:
        return _default(path, parameter.default, zone)
    relative = _relative(given) if parameter.is_range else None
    if relative is not None:
        return ValueOrigin(path, Origin.CLOCK, relative, Origin.VIEWER, zone)
    return ValueOrigin(path, Origin.VIEWER, zone=zone)


def _default(path: str, default: Any, zone: str) -> ValueOrigin:
    if isinstance(default, PropertyReference):
        return ValueOrigin(path, Origin.PROPERTY, default.path, zone=zone)
    if isinstance(default, RelativeRange):
        return ValueOrigin(path, Origin.CLOCK, str(default), Origin.DEFAULT, zone)
    return ValueOrigin(path, Origin.DEFAULT, zone=zone)


def _relative(given: Any) -> str | None:
    try:
        return str(parse_relative(given)) if isinstance(given, str) else None
    except ValueError:
        return None
