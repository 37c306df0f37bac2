"""Clicks that open another dashboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tenantry.dashboards.definition.model import Control, DashboardFile
from tenantry.sql.parameters import TEXTS
from tenantry.suggestions import did_you_mean


def check_open(
    dashboard: DashboardFile, dashboards: Mapping[str, DashboardFile], settable: Callable[[str], Iterable[str]]
) -> None:
    """Raise TemplateError for a click that opens a missing dashboard or sets what that does not read. ``settable``:
    parameters by dashboard."""
    for panel in dashboard.panels:
        click = panel.click
        if click is None or not click.open:
            continue
        if click.open not in dashboards:
            fix = f"{did_you_mean(click.open, dashboards)}The dashboards: {', '.join(sorted(dashboards))}"
            raise dashboard.source.error(click.offset, f"there is no dashboard {click.open}", fix)
        known = sorted(settable(click.open))
        for name in click.values:
            if name not in known:
                problem = f"the dashboard {click.open} does not read {name}"
                fix = f"{did_you_mean(name, known)}It reads: {', '.join(known) or 'nothing'}"
                raise dashboard.source.error(click.offset, problem, fix)


def kept_controls(dashboard: DashboardFile, opened: DashboardFile) -> tuple[str, ...]:
    """The controls that both dashboards have, of one kind and with fitting values."""
    there = opened.controls
    return tuple(name for name, control in dashboard.controls.items() if name in there and _fits(control, there[name]))


def _fits(given: Control, taken: Control) -> bool:
    ours, theirs = given.parameter, taken.parameter
    if _kind(given) != _kind(taken):
        return False
    if theirs.choices is not None and not (ours.choices is not None and set(ours.choices) <= set(theirs.choices)):
        return False
    least = theirs.min is None or (ours.min is not None and ours.min >= theirs.min)
    return least and (theirs.max is None or (ours.max is not None and ours.max <= theirs.max))


def _kind(control: Control) -> tuple[str, bool]:
    parameter = control.parameter
    return ("text" if parameter.type in TEXTS else str(parameter.type), parameter.is_list)
