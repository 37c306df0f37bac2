"""Previews: an operator sees a dashboard as a group sees it."""

from tenantry.dashboards.preview.previews import Previews as Previews
from tenantry.dashboards.preview.previews import assumed_viewer as assumed_viewer
from tenantry.dashboards.preview.previews import preview_address as preview_address
