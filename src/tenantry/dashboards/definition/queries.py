from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from tenantry.dashboards.definition.controls import controlled
from tenantry.dashboards.definition.model import PREVIOUS_PERIOD, Click, DashboardFile, Panel, QueryUse
from tenantry.dashboards.definition.zones import template_in_zone
from tenantry.errors import TemplateError, did_you_mean, misspelt
from tenantry.groups import Record
from tenantry.sql import Position, Query, SQLTemplate
from tenantry.sql.checks import can_lack
from tenantry.sql.dialects import UNITS
from tenantry.sql.parameters import INSTANTS, RANGE_ENDS, Parameter, declare, typed_value

_PARAMS = "params."

Template = TypeVar("Template", bound=SQLTemplate)


@dataclass(frozen=True, slots=True)
class PanelQueries:
    rows: SQLTemplate | None = None
    sparkline: SQLTemplate | None = None

    @property
    def templates(self) -> tuple[SQLTemplate, ...]:
        return tuple(each for each in (self.rows, self.sparkline) if each is not None)

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset().union(*map(parameters_read, self.templates))


@dataclass(frozen=True, slots=True, eq=False)  # equal only to itself, so that it has a hash
class DashboardQueries:
    panels: Mapping[str, PanelQueries]
    """The queries of each panel, by panel id."""
    choices: Mapping[str, SQLTemplate]
    """The templates that return the choices of controls, by control name."""

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset().union(*map(parameters_read, self.templates))

    @property
    def filters(self) -> frozenset[str]:
        return frozenset().union(*map(parameters_filtering, self.templates))

    @property
    def locked(self) -> frozenset[str]:
        """Parameters whose value comes from a property of the group."""
        return frozenset(each.name for one in self.templates for each in one.parameters.values() if each.locked)

    @property
    def templates(self) -> Iterator[SQLTemplate]:
        for panel in self.panels.values():
            yield from panel.templates
        yield from self.choices.values()

    def mapped(self, change: Callable[[SQLTemplate], SQLTemplate]) -> DashboardQueries:
        # Panels that share a template also share the new template.
        changed = {id(each): change(each) for each in self.templates}

        def of(template: SQLTemplate | None) -> SQLTemplate | None:
            return None if template is None else changed[id(template)]

        panels = {name: PanelQueries(of(each.rows), of(each.sparkline)) for name, each in self.panels.items()}
        choices = {name: changed[id(each)] for name, each in self.choices.items()}
        return DashboardQueries(MappingProxyType(panels), MappingProxyType(choices))


def parameters_read(template: SQLTemplate) -> frozenset[str]:
    """The names of the parameters in a template: ``period`` for ``{{ params.period.start }}``."""
    return frozenset(parameter_in(each.path) for each in template.variables) - {""}


def parameters_filtering(template: SQLTemplate) -> frozenset[str]:
    """Like ``parameters_read``, but leaves out parameters that only select a piece of SQL, such as the unit of
    ``trunc``."""
    binding = (each for each in template.variables if each.position is not Position.CHOICE)
    return frozenset(parameter_in(each.path) for each in binding) - {""}


def chosen_unit(template: SQLTemplate, variables: Mapping[str, Any] | Record, now: datetime) -> str | None:
    """Return the unit of time that a parameter selects in ``trunc`` or ``one_of``, such as ``week``. Returns None if no
    parameter selects a unit, or if several select different units."""
    if not template.parameters:
        return None
    choosing = {parameter_in(each.path) for each in template.variables if each.position is Position.CHOICE}
    declared = [template.parameters[name] for name in choosing if name in template.parameters]
    found = {each for parameter in declared if (each := typed_value(parameter, variables, now)) in UNITS}
    return found.pop() if len(found) == 1 else None


def ends_within_days(template: SQLTemplate, parameter: Parameter) -> bool:
    """Whether the query can end the parameter's range at a time of day, such as 14:05."""
    until = f"{parameter.path}.until"
    return parameter.type in INSTANTS or any(each.path == until for each in template.variables)


def find_queries(dashboard: DashboardFile, folder: Mapping[str, Query]) -> DashboardQueries:
    """Find and compile the dashboard's queries, with its controls as parameters.

    Raises TemplateError for:
    - a missing or invalid query, or a query that does not accept the type or default of a control;
    - a required parameter without a control;
    - a control or a click that sets a locked parameter;
    - a click or a comparison that no query supports.
    """
    finder = _Finder(dashboard, folder)
    panels = {
        panel.id: PanelQueries(finder.template(panel.query), finder.template(panel.sparkline))
        for panel in dashboard.panels
    }
    queries = DashboardQueries(MappingProxyType(panels), MappingProxyType(finder.choices()))
    _check_locked(dashboard, queries)
    for panel in dashboard.panels:
        _check_compare(dashboard, panel, panels[panel.id])
        _check_click(dashboard, panel.click, queries)
        for template in panels[panel.id].templates:
            _check_required(dashboard, panel.offset, template, finder.settable)
    return queries


class _Finder:
    def __init__(self, dashboard: DashboardFile, folder: Mapping[str, Query]) -> None:
        self._dashboard = dashboard
        self._folder = folder
        self._found: dict[tuple[str, str], SQLTemplate] = {}
        self.settable = settable_parameters(dashboard)

    def template(self, use: QueryUse | None) -> SQLTemplate | None:
        if use is None:
            return None
        key = (use.name, use.sql)
        if key not in self._found:
            self._found[key] = self._declaring(self._compile(use), use.offset)
        return self._found[key]

    def choices(self) -> dict[str, SQLTemplate]:
        return {
            name: self._declaring(self._named(control.parameter.choices_query, control.offset), control.offset)
            for name, control in self._dashboard.controls.items()
            if control.parameter.choices_query is not None
        }

    def _compile(self, use: QueryUse) -> SQLTemplate:
        if use.name:
            return self._named(use.name, use.offset)
        try:
            template = SQLTemplate(use.sql, params=self.settable, fragments=self._folder)
            template.check()
        except TemplateError as error:
            problem = f"in this statement, {error.headline}"
            raise self._dashboard.source.error(use.offset, problem, error.fix) from None
        return template

    def _named(self, name: str, offset: int) -> SQLTemplate:
        query = self._folder.get(name)
        if query is None:
            fix = f"{did_you_mean(name, self._folder)}The queries: {', '.join(sorted(self._folder)) or 'none yet'}"
            edit = misspelt(name, self._folder)
            raise self._dashboard.source.error(offset, f"there is no query {name}", fix, edit=edit)
        return query

    def _declaring(self, template: SQLTemplate, offset: int) -> SQLTemplate:
        try:
            declared = with_controls(self._dashboard, template)
            declared.check()  # a control's type may not fit its place in the SQL
        except TemplateError as error:
            name = parameter_in(error.variable)
            if name not in template.parameter_names or name in self.settable:
                raise
            kind = "choices: […], many: true" if error.problem.endswith("is not a list") else "range: last-30-days"
            fix = f"Add a control, such as `{name}: {{{kind}}}`, or declare {name} in the query's header"
            problem = f"no control is called {name}; {error.headline}"
            raise self._dashboard.source.error(offset, problem, did_you_mean(name, self.settable) + fix) from None
        return declared


def with_controls(dashboard: DashboardFile, template: Template) -> Template:
    """Return the template with the dashboard's controls as parameters, in the dashboard's time zone. Undeclared
    parameters without a control take any text. Raises TemplateError if the template does not accept a control's type or
    default."""
    known = settable_parameters(dashboard)
    further = {name: known.get(name, "text") for name in sorted(template.parameter_names)}
    zoned = template_in_zone(template.declaring(further) if further else template, dashboard.zone)
    return controlled(dashboard, zoned)


def parameter_in(path: str) -> str:
    return path.split(".")[1] if path.startswith(_PARAMS) else ""


def settable_parameters(dashboard: DashboardFile) -> dict[str, Parameter]:
    clicked = [panel.click for panel in dashboard.panels if panel.click is not None and not panel.click.open]
    texts = declare({name: "text" for click in clicked for name in click.values})
    return {**texts, **{name: control.parameter for name, control in dashboard.controls.items()}}


def _check_required(dashboard: DashboardFile, offset: int, template: SQLTemplate, settable: Iterable[str]) -> None:
    declared = template.parameters
    for variable in template.variables:
        name = parameter_in(variable.path)
        parameter = declared.get(name)
        if not name or name in settable or (parameter is not None and parameter.default is not None):
            continue
        if parameter is not None and not parameter.required:
            continue
        if parameter is None and variable.optional:
            continue
        near = did_you_mean(name, settable)
        fix = f"{near}Add a control {name}, or give the parameter a default in the query's header"
        raise dashboard.source.error(offset, f"the query needs params.{name}, which no control sets", fix)


def _check_locked(dashboard: DashboardFile, queries: DashboardQueries) -> None:
    places = {name: ("control", control.offset) for name, control in dashboard.controls.items()}
    for click in (panel.click for panel in dashboard.panels):
        if click is not None and not click.open:
            places |= {name: ("click", click.offset) for name in click.values if name not in places}
    for name in sorted(queries.locked & places.keys()):
        what, offset = places[name]
        problem = f"params.{name} is locked in a query: a property of the group sets it, so no {what} can"
        raise dashboard.source.error(offset, problem, f"remove the {what}")


def _check_compare(dashboard: DashboardFile, panel: Panel, queries: PanelQueries) -> None:
    if panel.compare != PREVIOUS_PERIOD or queries.rows is None:
        return
    ranges = [name for name in range_controls(dashboard) if name in parameters_read(queries.rows)]
    if len(ranges) != 1:
        found = len(ranges) or "no"
        problem = f"{PREVIOUS_PERIOD} needs exactly one range control, and the query reads {found} range controls"
        fix = "add a control {range: last 30 days}, and write {{ params.NAME | within(column) }} in the query"
        raise dashboard.source.error(panel.offset, problem, fix)


def range_controls(dashboard: DashboardFile) -> list[str]:
    return [name for name, control in dashboard.controls.items() if control.parameter.is_range]


def _check_click(dashboard: DashboardFile, click: Click | None, queries: DashboardQueries) -> None:
    if click is None or click.open:
        return
    for name in click.values:
        if name not in dashboard.controls and name not in queries.parameters:
            known = queries.parameters | dashboard.controls.keys()
            fix = f"{did_you_mean(name, known)}Write [[ and … = {{{{ params.{name} }}}} ]] in a query"
            edit = misspelt(name, known)
            raise dashboard.source.error(click.offset, f"no query reads params.{name}", fix, edit=edit)


# --- what a viewer may leave empty ------------------------------------------------------------------------------------

Change: TypeAlias = Callable[[Parameter], Parameter]
Left: TypeAlias = Mapping[str, bool] | None
"""An incomplete value of a control: ``{"start": True}`` for a range that has only a start, None for no value."""


def relaxed(dashboard: DashboardFile, queries: DashboardQueries) -> tuple[DashboardFile, DashboardQueries]:
    """Return copies in which viewers may omit an end of a range, or clear a control that has a default. A control stays
    unchanged if a query uses the omitted value outside an optional clause (``[[ ]]``)."""
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
    opened = replace(dashboard, controls=MappingProxyType(controls))
    return opened, queries.mapped(lambda each: templates[id(each)])


def _changes(parameter: Parameter) -> Iterator[tuple[Change, Sequence[Left]]]:
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
