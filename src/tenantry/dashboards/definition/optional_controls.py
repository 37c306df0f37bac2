"""Find what a viewer may leave empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import DashboardQueries, PanelQueries, parameters_read
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import can_lack
from tenantry.sql.parameters import RANGE_ENDS, Parameter

Change: TypeAlias = Callable[[Parameter], Parameter]
Left: TypeAlias = Mapping[str, bool] | None
"""The ends of a range that are given; None: no value."""


def relaxed(dashboard: DashboardFile, queries: DashboardQueries) -> tuple[DashboardFile, DashboardQueries]:
    """The dashboard and its queries, where a viewer may leave out an end of a range, or a value with a default, that no
    query needs outside of ``[[ ]]``."""
    templates = {id(each): each for each in queries.templates}
    controls = dict(dashboard.controls)
    for name, control in controls.items():
        reading = {key: each for key, each in templates.items() if name in parameters_read(each)}
        if any(each.parameters[name].locked for each in reading.values()):
            continue
        for change, lefts in _changes(control.parameter):
            changed = {key: each.redeclaring({name: change(each.parameters[name])}) for key, each in reading.items()}
            if all(_can_be(each, name, lefts) for each in changed.values()):
                templates |= changed
                controls[name] = replace(control, parameter=change(control.parameter))
                break

    def now(template: SQLTemplate | None) -> SQLTemplate | None:
        return None if template is None else templates[id(template)]

    panels = {key: PanelQueries(now(each.rows), now(each.sparkline)) for key, each in queries.panels.items()}
    choices = {name: templates[id(each)] for name, each in queries.choices.items()}
    return (
        replace(dashboard, controls=MappingProxyType(controls)),
        DashboardQueries(MappingProxyType(panels), MappingProxyType(choices)),
    )


def _changes(parameter: Parameter) -> Iterator[tuple[Change, Sequence[Left]]]:
    """The most permissive first, with the cases to check."""
    if parameter.is_range:
        limits = dict(zip(RANGE_ENDS, (parameter.min, parameter.max), strict=True))
        ends = [end for end in RANGE_ENDS if limits[end] is None]
        for some in (ends, ends[:1], ends[1:]):
            yield _opening(some), [{other: True} for other in RANGE_ENDS for end in some if other != end]
    elif parameter.default is not None:
        yield _clearing, [None]


def _opening(ends: Iterable[str]) -> Change:
    return lambda each: replace(each, open=each.open.union(ends))


def _clearing(parameter: Parameter) -> Parameter:
    return replace(parameter, clearable=True)


def _can_be(template: SQLTemplate, name: str, lefts: Iterable[Left]) -> bool:
    try:
        return all(can_lack(template, name, left) for left in lefts)
    except TemplateError:
        return False
