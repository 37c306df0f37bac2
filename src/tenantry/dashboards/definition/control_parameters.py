"""A query that declares the parameter of a control itself: what the control says of it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from tenantry.dashboards.definition.model import Control, DashboardFile
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters import (
    INSTANTS,
    RANGES,
    REFUSALS,
    UTC_ZONE,
    Bounds,
    Moment,
    Parameter,
    ParameterType,
    PropertyReference,
    RelativeRange,
    read_value,
    spell,
)

_DAY: Final = timedelta(days=1)
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
_T = ParameterType
_READ_AS: Final[Mapping[ParameterType, frozenset[ParameterType]]] = MappingProxyType(
    {
        _T.DATE_RANGE: frozenset({_T.DATE_RANGE, _T.DATETIME_RANGE}),
        _T.DECIMAL: frozenset({_T.DECIMAL, _T.INTEGER}),
        _T.DATE: frozenset({_T.DATE, _T.DATETIME}),
    }
)
"""Type of a control -> what a query may declare; of texts and choices all but ranges."""


def sent_value(value: Any) -> Any:
    """A typed value as a viewer would send it: of a range both ends, of which the last day is a part."""
    if isinstance(value, Bounds):
        last = value.end - _DAY if type(value.end) is date else value.end
        return {"start": _written(value.start), "end": _written(last)}
    return [spell(each) for each in value] if isinstance(value, tuple) else _written(value)


def _written(value: Any) -> str | None:
    return None if value is None else spell(value)


def controlled(dashboard: DashboardFile, template: SQLTemplate) -> SQLTemplate:
    """The template, with what the controls say of the parameters that it declares itself: its own type and limits stay,
    and what counts until a viewer chooses is the control's default. So every panel shows what the page says.

    Raises TemplateError, at the control, for a type that its values do not have, and a default that does not fit.
    """
    own = {name: each for name, each in template.parameters.items() if name in dashboard.controls and not each.locked}
    changed = {name: _controlled(dashboard, dashboard.controls[name], each) for name, each in own.items()}
    return template if changed == own else template.redeclaring(changed)


def _controlled(dashboard: DashboardFile, control: Control, declared: Parameter) -> Parameter:
    given = control.parameter
    if given == declared:
        return declared
    taken = _READ_AS.get(given.type, frozenset(_T) - RANGES)
    if declared.type not in taken or (given.is_list and not declared.is_list):
        problem = f"a query declares params.{control.name} as {declared.kind}, and this control gives {given.kind}"
        fix = f"take {control.name} out of the query's header, or declare it there as {given.kind}"
        raise dashboard.source.error(control.offset, problem, fix)
    required = given.required or (declared.required and given.default is None)
    return replace(declared, default=_default(dashboard, control, declared), required=required)


def _default(dashboard: DashboardFile, control: Control, declared: Parameter) -> Any:
    """The control's default, as the query's own type reads it."""
    default = control.parameter.default
    if default is None or isinstance(default, PropertyReference | RelativeRange):
        return default
    sent = sent_value(default)
    zone = declared.zone
    in_zone_of_group = isinstance(zone, PropertyReference)
    try:
        moment = Moment(UTC_ZONE if zone is None or isinstance(zone, PropertyReference) else zone, _ANY_TIME)
        value = read_value(declared, sent, moment)
    except REFUSALS:
        problem = f"a query declares params.{control.name}, and does not take the default of this control"
        fix = f"give a default that it takes ({declared.takes}), or take {control.name} out of the query's header"
        raise dashboard.source.error(control.offset, problem, fix) from None
    return sent if in_zone_of_group and declared.type in INSTANTS else value
