"""Dashboards: pages from YAML and SQL files, and endpoints around your own renderer."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.access import Access as Access
    from tenantry.dashboards.assets import NOT_BUILT as NOT_BUILT
    from tenantry.dashboards.assets import BuiltFiles as BuiltFiles
    from tenantry.dashboards.endpoint import dashboard as dashboard
    from tenantry.dashboards.endpoint import error_handler as error_handler
    from tenantry.dashboards.folder import DashboardFolder as DashboardFolder
    from tenantry.dashboards.folder import SavedDashboard as SavedDashboard
    from tenantry.dashboards.folder import default_queries as default_queries
    from tenantry.dashboards.frame import FURTHER as FURTHER
    from tenantry.dashboards.frame import POLICY as POLICY
    from tenantry.dashboards.mount import MountingApp as MountingApp
    from tenantry.dashboards.mount import mount_dashboards as mount_dashboards
    from tenantry.dashboards.panels.formats import UnusableFormat as UnusableFormat
    from tenantry.dashboards.panels.formats import unusable_formats as unusable_formats
    from tenantry.dashboards.protocol.panel_request import StrictBody as StrictBody
    from tenantry.dashboards.protocol.panel_request import read_request as read_request
    from tenantry.dashboards.refresh.reloading import ReloadingFolder as ReloadingFolder
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.access": "Access",
            "tenantry.dashboards.assets": "NOT_BUILT BuiltFiles",
            "tenantry.dashboards.endpoint": "dashboard error_handler",
            "tenantry.dashboards.frame": "FURTHER POLICY",
            "tenantry.dashboards.folder": "DashboardFolder SavedDashboard default_queries",
            "tenantry.dashboards.panels.formats": "UnusableFormat unusable_formats",
            "tenantry.dashboards.mount": "MountingApp mount_dashboards",
            "tenantry.dashboards.protocol.panel_request": "StrictBody read_request",
            "tenantry.dashboards.refresh.reloading": "ReloadingFolder",
        },
    )
