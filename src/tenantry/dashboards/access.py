from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request

from tenantry.dashboards.definition.conditions import When
from tenantry.dashboards.definition.model import COLUMNS, Control, DashboardFile, Panel
from tenantry.dashboards.definition.queries import DashboardQueries, parameters_read
from tenantry.dashboards.definition.variables import Definition
from tenantry.dashboards.folder import SavedDashboard
from tenantry.errors import InvalidSettings
from tenantry.groups import DASHBOARD, Record, UserGroup
from tenantry.http import user_group
from tenantry.sql import FRAGMENT_NAME, Source

MayOpen: TypeAlias = str | Callable[[UserGroup, str], bool]
"""Decides which dashboards a group may open: the name of a property that lists their names, or a function
that gets the group and a dashboard's name and returns True or False."""

NO_DASHBOARD: Final = "There is no such dashboard."
_NEUTRAL: Final = Definition({"title": "Dashboard"})


def neutral(name: str) -> DashboardFile:
    """Return a dashboard without panels, for the frame (page) of a restricted or unknown dashboard."""
    return DashboardFile(name, Source(""), _NEUTRAL, ())


class Access:
    # A group may open a dashboard only if `may_open`, the dashboard's `when` and the scope of the pass all allow
    # it. A function `may_open` is called for every request.

    def __init__(self, dashboards: Mapping[str, SavedDashboard], may_open: MayOpen | None = None) -> None:
        if iscoroutinefunction(may_open):
            raise InvalidSettings("may_open is asynchronous: give a plain function that returns True or False")
        self._dashboards = dashboards
        self._may_open = may_open

    def find(self, name: str, group: UserGroup) -> SavedDashboard | None:
        """Return the dashboard as the group sees it. Returns None if it is unknown or the group may not open it. Raises
        InvalidSettings if ``may_open`` returns neither True nor False."""
        saved = self._dashboards.get(name)
        if saved is None or not self._is_open(group, saved):
            return None
        dashboard = narrowed(saved.dashboard, saved.queries, group.variables, partial(self._has_link, group))
        links = {
            panel: link.with_controls(self._controls(link.click.open, group))
            for panel, link in saved.links.items()
            if self._has_link(group, link.click.open)
        }
        return replace(saved, dashboard=dashboard, links=links)

    def names(self, group: UserGroup) -> list[str]:
        return [name for name, saved in self._dashboards.items() if self._is_open(group, saved)]

    def require(self, request: Request) -> SavedDashboard:
        """Like ``find`` for a request, but raises HTTPException (404) instead of returning None."""
        saved = self.find(request.path_params["name"], user_group(request))
        if saved is None:
            raise HTTPException(404, NO_DASHBOARD)
        return saved

    def in_frame(self, name: str) -> DashboardFile | None:
        """Return what a dashboard's frame shows to all groups. If ``may_open`` or ``when`` restricts the dashboard,
        return ``neutral(name)``. If any dashboard is restricted, also return it for an unknown name. Otherwise
        return None for an unknown name."""
        # The frame is served before the group is known, and must not reveal which names exist.
        saved = self._dashboards.get(name)
        if saved is not None and self._may_open is None and saved.dashboard.when is None:
            return narrowed(saved.dashboard, saved.queries, {})
        depends = self._may_open is not None or any(each.dashboard.when for each in self._dashboards.values())
        return neutral(name) if depends and FRAGMENT_NAME.fullmatch(name) else None

    def _has_link(self, group: UserGroup, name: str) -> bool:
        saved = self._dashboards.get(name)
        return saved is not None and self._is_open(group, saved)

    def _controls(self, name: str, group: UserGroup) -> Mapping[str, Control]:
        saved = self._dashboards[name]
        return narrowed(saved.dashboard, saved.queries, group.variables).controls

    def _is_open(self, group: UserGroup, saved: SavedDashboard) -> bool:
        conditions = [saved.dashboard.when]
        name = saved.dashboard.name
        if group.viewer is not None and not group.viewer.may_open(DASHBOARD, name):
            return False
        if isinstance(self._may_open, str):
            conditions.append(When(self._may_open, (name,)))
        if not all(each is None or each.holds(group.variables) for each in conditions):
            return False
        if self._may_open is None or isinstance(self._may_open, str):
            return True
        answer: object = self._may_open(group, name)
        if not isinstance(answer, bool):  # a coroutine, for example, would count as true
            raise InvalidSettings(f"may_open must return True or False, but returned a {type(answer).__name__}")
        return answer


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
