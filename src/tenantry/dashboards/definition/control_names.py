"""Finds names that are probably misspelt: a control that no query uses, or a parameter that has no control although a
control has a similar name."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import DashboardQueries, parameter_in, settable_parameters
from tenantry.errors import Edit, Location, did_you_mean, misspelt, nearest
from tenantry.sql.checks import Finding, Severity


def mistyped_controls(
    dashboard: DashboardFile, queries: DashboardQueries, opened_with: Collection[str] = ()
) -> Iterator[tuple[str, Finding]]:
    """Yield each finding with the name of its file. ``opened_with``: the parameters that other dashboards pass when a
    click opens this one."""
    # A parameter that a query's header declares is not reported: a link or the host page may set it.
    unset = _unset(dashboard, queries, opened_with)
    unused = [control for control in dashboard.controls.values() if control.name not in queries.parameters]
    for control in unused:
        at = dashboard.source.location(control.offset)
        message = f"no query reads params.{control.name}, so this control changes nothing"
        near = nearest(control.name, unset)
        where = f"did you mean {near}, which {unset.pop(near)} reads? Otherwise " if near is not None else ""
        fix = f"{where}write [[ and … = {{{{ params.{control.name} }}}} ]] in a query, or remove the control"
        edit = Edit(control.name, near) if near is not None else None
        yield at.file, Finding("unused-control", Severity.WARNING, at.line, at.column, message, fix, edit=edit)
    for name, at in unset.items():
        near_control = did_you_mean(name, dashboard.controls)
        if near_control:
            message = f"no control of the dashboard {dashboard.name} sets params.{name}"
            fix = f"{near_control}Otherwise declare {name} in the query's header, or add a control"
            edit = misspelt(name, dashboard.controls, prefix="params.")
            yield at.file, Finding("unset-parameter", Severity.WARNING, at.line, at.column, message, fix, edit=edit)


def _unset(dashboard: DashboardFile, queries: DashboardQueries, opened_with: Collection[str]) -> dict[str, Location]:
    found: dict[str, Location] = {}
    for template in queries.templates:
        known = {*settable_parameters(dashboard), *opened_with, *template.definition.header.parameters}
        for variable in template.variables:
            name = parameter_in(variable.path)
            if name and name not in known:
                found.setdefault(name, Location(variable.line, variable.column, variable.file))
    return found
