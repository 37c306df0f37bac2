"""A documentation site from one typed configuration file (SPEC 2.2).

The door of the site (extra ``site``). Names are loaded when they are first asked for: reading a configuration file
needs neither Markdown nor a web framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry.door import on_demand

if TYPE_CHECKING:
    from tenantry.site.app import site_app, site_routes
    from tenantry.site.building import build
    from tenantry.site.config import SiteConfig, json_schema, loads
    from tenantry.site.diagnostic import Diagnostic, Severity
    from tenantry.site.loading import load
    from tenantry.site.options import SiteOptions
    from tenantry.site.rendering import RenderedSite, render
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "Diagnostic": "tenantry.site.diagnostic",
            "RenderedSite": "tenantry.site.rendering",
            "Severity": "tenantry.site.diagnostic",
            "SiteConfig": "tenantry.site.config",
            "SiteOptions": "tenantry.site.options",
            "build": "tenantry.site.building",
            "json_schema": "tenantry.site.config",
            "load": "tenantry.site.loading",
            "loads": "tenantry.site.config",
            "render": "tenantry.site.rendering",
            "site_app": "tenantry.site.app",
            "site_routes": "tenantry.site.app",
        },
    )

__all__ = [
    "Diagnostic",
    "RenderedSite",
    "Severity",
    "SiteConfig",
    "SiteOptions",
    "build",
    "json_schema",
    "load",
    "loads",
    "render",
    "site_app",
    "site_routes",
]
