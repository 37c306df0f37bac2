from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from tenantry.dashboards.definition.model import COLUMNS, Control, DashboardFile, Panel
from tenantry.dashboards.definition.queries import DashboardQueries, parameters_read
from tenantry.groups import Record

Row = tuple[Panel, ...]


def narrowed(
    dashboard: DashboardFile,
    queries: DashboardQueries,
    variables: Mapping[str, Any] | Record,
    may_open: Callable[[str], bool] = lambda name: True,
) -> DashboardFile:
    """Return what a group with these variables sees of the dashboard. The result leaves out:
    - panels whose ``when`` does not hold, and controls that only these panels use;
    - clicks that open a dashboard for which ``may_open`` returns False."""
    rows = tuple(_shown(row, variables, may_open) for row in dashboard.rows)
    if all(one is other for one, other in zip(rows, dashboard.rows, strict=True)):
        return dashboard
    rows = tuple(row for row in rows if row)
    return replace(dashboard, rows=rows, controls=_controls(dashboard, queries, rows))


def _shown(row: Row, variables: Mapping[str, Any] | Record, may_open: Callable[[str], bool]) -> Row:
    shown = tuple(panel for panel in row if panel.when is None or panel.when.holds(variables))
    linked = tuple(
        replace(panel, click=None) if panel.click and panel.click.open and not may_open(panel.click.open) else panel
        for panel in shown
    )
    if len(linked) < len(row):
        return _widened(linked, sum(panel.width for panel in row) if all(panel.width for panel in row) else COLUMNS)
    return row if linked == row else linked


def _widened(row: Row, columns: int) -> Row:
    """Widen the panels, in proportion to their widths, so that they fill ``columns`` grid columns."""
    if not all(panel.width for panel in row):
        return row  # panels without a width share the other columns
    taken = sum(panel.width for panel in row)
    ends = [(2 * columns * so_far + taken) // (2 * taken) for so_far in accumulate(panel.width for panel in row)]
    return tuple(replace(panel, width=end - start) for panel, start, end in zip(row, [0, *ends], ends, strict=False))


def _controls(dashboard: DashboardFile, queries: DashboardQueries, rows: Iterable[Row]) -> Mapping[str, Control]:
    before = _read(dashboard, queries, dashboard.panels)
    after = _read(dashboard, queries, (panel for row in rows for panel in row))
    # A control that is left out remains a parameter of its queries. So an address that sets it works for every group.
    unread = (before - after) & queries.parameters
    return MappingProxyType({name: each for name, each in dashboard.controls.items() if name not in unread})


def _read(dashboard: DashboardFile, queries: DashboardQueries, panels: Iterable[Panel]) -> set[str]:
    found = _in_texts(dashboard.texts.paths)
    for panel in panels:
        found |= _in_texts((*panel.view.paths, *panel.named.paths))
        found |= queries.panels[panel.id].parameters
        found |= set(panel.click.values) if panel.click is not None and not panel.click.open else set()
    added = found
    while added:
        added = {
            name for each in added & queries.choices.keys() for name in parameters_read(queries.choices[each])
        } - found
        found |= added
    return found


def _in_texts(paths: Iterable[Any]) -> set[str]:
    return {str(path.steps[1]) for path in paths if path.steps[0] == "params" and len(path.steps) > 1}
