from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tenantry.dashboards.definition.model import ColumnUse, Panel
from tenantry.dashboards.folder import SavedDashboard
from tenantry.datasources.checks import reported_by
from tenantry.errors import did_you_mean, misspelt
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import Finding, Located, Severity

_LISTED: Final = 20
"""Maximum columns that a finding names."""


def templates_of(saved: SavedDashboard) -> Iterator[tuple[Panel | None, str, SQLTemplate]]:
    """Yield each query with its panel and the file to name in findings. The panel is None if the query supplies a
    control's choices."""
    for panel in saved.dashboard.panels:
        for template in saved.queries.panels[panel.id].templates:
            own = template.definition.source.file
            yield panel, own or f"{saved.dashboard.source.file} (panel {panel.id})", template
    for template in saved.filled.values():
        yield None, template.definition.source.file, template


def columns_in(saved: SavedDashboard, panel: Panel | None, template: SQLTemplate) -> tuple[ColumnUse, ...]:
    """Return the columns that the panel expects from this query. Names that depend on the group are left out."""
    if panel is None:
        return ()
    whole = template is saved.queries.panels[panel.id].rows
    found = (use for use in panel.columns if whole or use.key == panel.kind)
    return tuple(use for use in found if "{{" not in use.name)


def unknown_columns(
    saved: SavedDashboard, panel: Panel | None, template: SQLTemplate, found: Mapping[str, Sequence[str]]
) -> Iterator[Located]:
    """Yield a finding for each column that the panel names and the query does not return. ``found`` maps a description
    of a source, such as ``data source warehouse, for acme``, to the columns that it returns."""
    for use in columns_in(saved, panel, template):
        lacking = [where for where, names in found.items() if use.name not in names]
        if lacking:
            at = saved.dashboard.source.location(use.offset)
            names = found[lacking[0]]
            message = f"the rows of the query have no column {use.name} ({reported_by(lacking)})"
            fix = f"{did_you_mean(use.name, names)}The columns: {', '.join(names[:_LISTED])}"
            edit = misspelt(use.name, names)
            yield at.file, Finding("unknown-column", Severity.ERROR, at.line, at.column, message, fix, edit=edit)
