"""Previews: an operator sees a dashboard as a group sees it."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.preview.assumed_viewers import assumed_viewer as assumed_viewer
    from tenantry.dashboards.preview.preview_endpoint import preview_address as preview_address
    from tenantry.dashboards.preview.previews import Previews as Previews
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.preview.assumed_viewers": "assumed_viewer",
            "tenantry.dashboards.preview.preview_endpoint": "preview_address",
            "tenantry.dashboards.preview.previews": "Previews",
        },
    )
