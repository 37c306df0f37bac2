"""The file of a dashboard: its keys and values, and variables in its texts."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.dashboards.definition.variables import MAX_DEPTH, Definition, VariablePath, substitute

if TYPE_CHECKING:
    from tenantry.dashboards.definition.file_schema import dashboard_schema as dashboard_schema
    from tenantry.dashboards.definition.model import ColumnUse as ColumnUse
    from tenantry.dashboards.definition.model import DashboardFile as DashboardFile
    from tenantry.dashboards.definition.model import Panel as Panel
    from tenantry.dashboards.definition.model import PanelKind as PanelKind
    from tenantry.dashboards.definition.queries import with_controls as with_controls
    from tenantry.dashboards.definition.reader import read_dashboard as read_dashboard
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.definition.file_schema": "dashboard_schema",
            "tenantry.dashboards.definition.model": "ColumnUse DashboardFile Panel PanelKind",
            "tenantry.dashboards.definition.queries": "with_controls",
            "tenantry.dashboards.definition.reader": "read_dashboard",
        },
    )

__all__ = ["MAX_DEPTH", "Definition", "VariablePath", "substitute"]
