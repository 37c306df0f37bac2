"""Checks the names in ``colors`` of a dashboard against the rows of its queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tenantry.dashboards.definition import DashboardFile, Panel, PanelKind, vega_colored_column
from tenantry.sql.checks import Finding, Located, Severity

if TYPE_CHECKING:
    from tenantry.dashboards.definition import ColoredName

Names: TypeAlias = frozenset[str] | None

_VARIABLE = "{{"
"""A column whose name contains this string depends on the group."""
_COLUMN_KEYS = {
    PanelKind.DONUT: "by",
    PanelKind.LINE: "color",
    PanelKind.AREA: "color",
    PanelKind.BAR: "color",
    PanelKind.SCATTER: "color",
}
"""Kind of panel -> the key that names the column of its series. Other kinds have no series column, or name it in their
specification."""


def checked_column(dashboard: DashboardFile, panel: Panel) -> str:
    """The column with the names of the panel's series; empty if the check needs no names."""
    column = _column(panel) if panel.colors or dashboard.colored_names else ""
    return "" if _VARIABLE in column else column


def color_findings(dashboard: DashboardFile, names: Mapping[str, Collection[Names]]) -> Iterator[Located]:
    """``names``: by panel id, the names of the series in the rows, one set for each data source (None if unknown)."""
    everywhere: set[str] = set()
    complete = True
    for panel in dashboard.panels:
        known = _names_of(panel, names.get(panel.id, ()))
        complete = complete and known is not None
        everywhere.update(known or ())
        if known is not None:
            yield from _unknown(dashboard, panel.colors, known)
    if complete:
        yield from _unknown(dashboard, dashboard.colored_names, frozenset(everywhere))


def _column(panel: Panel) -> str:
    if panel.kind is PanelKind.VEGA:
        named = panel.named
        return _VARIABLE if named.paths else vega_colored_column(named.substitute({})["vega"])
    key = _COLUMN_KEYS.get(panel.kind)
    return next((use.name for use in panel.columns if use.key == key), "")


def _names_of(panel: Panel, found: Collection[Names]) -> Names:
    measures = frozenset(use.name for use in panel.columns if use.key == panel.kind)
    if not _column(panel):
        return measures if panel.kind in _COLUMN_KEYS else frozenset()
    known = [each for each in found if each is not None]
    complete = known and len(known) == len(found) and len(measures) < 2  # if several, names contain them
    return frozenset().union(*known) if complete else None


def _unknown(dashboard: DashboardFile, colored: tuple[ColoredName, ...], known: frozenset[str]) -> Iterator[Located]:
    for each in colored:
        if each.name not in known:
            at = dashboard.source.location(each.offset)
            message = f"the colour of {each.name} is not used, because no row that was read has this name"
            fix = "correct the name, or keep the colour for later rows"  # the fix must not quote values of rows
            yield at.file, Finding("unused-color", Severity.NOTE, at.line, at.column, message, fix)
