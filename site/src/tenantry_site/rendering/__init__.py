"""Renders the files of a site, without I/O."""

from tenantry_site.rendering.site import CODES, RenderedSite, Site, render
from tenantry_site.rendering.source_files import configuration_file
from tenantry_site.rendering.theme_assets import active_content_diagnostic, has_active_content

__all__ = [
    "CODES",
    "RenderedSite",
    "Site",
    "active_content_diagnostic",
    "configuration_file",
    "has_active_content",
    "render",
]
