"""The file of a dashboard: its keys and values, and variables in its texts."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.dashboards.definition.variables import MAX_DEPTH, Definition, VariablePath, substitute

if TYPE_CHECKING:
    from tenantry.dashboards.definition.file_schema import dashboard_schema as dashboard_schema
    from tenantry.dashboards.definition.model import ColoredName as ColoredName
    from tenantry.dashboards.definition.model import ColumnUse as ColumnUse
    from tenantry.dashboards.definition.model import DashboardFile as DashboardFile
    from tenantry.dashboards.definition.model import Panel as Panel
    from tenantry.dashboards.definition.model import PanelKind as PanelKind
    from tenantry.dashboards.definition.queries import with_controls as with_controls
    from tenantry.dashboards.definition.reader import read_dashboard as read_dashboard
    from tenantry.dashboards.definition.vega_columns import vega_colored_column as vega_colored_column
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.definition.file_schema": "dashboard_schema",
            "tenantry.dashboards.definition.model": "ColoredName ColumnUse DashboardFile Panel PanelKind",
            "tenantry.dashboards.definition.queries": "with_controls",
            "tenantry.dashboards.definition.reader": "read_dashboard",
            "tenantry.dashboards.definition.vega_columns": "vega_colored_column",
        },
    )

__all__ = ["MAX_DEPTH", "Definition", "VariablePath", "substitute"]
