"""Dashboards: pages from YAML and SQL files, and endpoints around your own renderer."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.access import Access as Access
    from tenantry.dashboards.assets import BuiltFiles as BuiltFiles
    from tenantry.dashboards.endpoint import dashboard as dashboard
    from tenantry.dashboards.endpoint import error_handler as error_handler
    from tenantry.dashboards.folder import QUERIES as QUERIES
    from tenantry.dashboards.folder import SUFFIXES as SUFFIXES
    from tenantry.dashboards.folder import DashboardFolder as DashboardFolder
    from tenantry.dashboards.folder import SavedDashboard as SavedDashboard
    from tenantry.dashboards.folder import default_queries as default_queries
    from tenantry.dashboards.frame import FURTHER as FURTHER
    from tenantry.dashboards.frame import POLICY as POLICY
    from tenantry.dashboards.frame import html_page as html_page
    from tenantry.dashboards.mount import MountingApp as MountingApp
    from tenantry.dashboards.mount import mount_dashboards as mount_dashboards
    from tenantry.dashboards.mount import preview_app as preview_app
    from tenantry.dashboards.panels.description import readable_name as readable_name
    from tenantry.dashboards.panels.formats import UnusableFormat as UnusableFormat
    from tenantry.dashboards.panels.formats import unusable_formats as unusable_formats
    from tenantry.dashboards.preview.guard import EditorPreview as EditorPreview
    from tenantry.dashboards.preview.previews import Previews as Previews
    from tenantry.dashboards.protocol.paced_send import PacedSend as PacedSend
    from tenantry.dashboards.protocol.panel_request import StrictBody as StrictBody
    from tenantry.dashboards.protocol.panel_request import read_request as read_request
    from tenantry.dashboards.refresh import ReloadingFolder as ReloadingFolder
    from tenantry.dashboards.refresh import Stamp as Stamp
    from tenantry.dashboards.single_use_codes import MAX_PAYLOAD as MAX_PAYLOAD
    from tenantry.dashboards.single_use_codes import Purpose as Purpose
    from tenantry.dashboards.single_use_codes import SingleUseCodes as SingleUseCodes
    from tenantry.dashboards.source_zones import in_source_zone as in_source_zone
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.access": "Access",
            "tenantry.dashboards.assets": "BuiltFiles",
            "tenantry.dashboards.endpoint": "dashboard error_handler",
            "tenantry.dashboards.folder": "QUERIES SUFFIXES DashboardFolder SavedDashboard default_queries",
            "tenantry.dashboards.frame": "FURTHER POLICY html_page",
            "tenantry.dashboards.panels.description": "readable_name",
            "tenantry.dashboards.panels.formats": "UnusableFormat unusable_formats",
            "tenantry.dashboards.mount": "MountingApp mount_dashboards preview_app",
            "tenantry.dashboards.preview.guard": "EditorPreview",
            "tenantry.dashboards.preview.previews": "Previews",
            "tenantry.dashboards.protocol.paced_send": "PacedSend",
            "tenantry.dashboards.protocol.panel_request": "StrictBody read_request",
            "tenantry.dashboards.refresh": "ReloadingFolder Stamp",
            "tenantry.dashboards.single_use_codes": "MAX_PAYLOAD Purpose SingleUseCodes",
            "tenantry.dashboards.source_zones": "in_source_zone",
        },
    )
