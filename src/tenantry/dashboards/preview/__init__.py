"""Previews: an operator sees a dashboard as a group sees it."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.preview.previews import Previews as Previews
    from tenantry.dashboards.preview.previews import assumed_viewer as assumed_viewer
    from tenantry.dashboards.preview.previews import preview_address as preview_address
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.preview.previews": "Previews assumed_viewer preview_address",
        },
    )
