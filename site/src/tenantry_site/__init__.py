"""A documentation site from one typed configuration file (SPEC 2.2).

The door of the site (extra ``site``). Names are loaded when they are first asked for: reading a configuration file
needs neither Markdown nor a web framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry_site.app import site_app, site_routes
    from tenantry_site.building import build
    from tenantry_site.config import SiteConfig, json_schema, loads
    from tenantry_site.diagnostic import Diagnostic, Severity
    from tenantry_site.loading import load
    from tenantry_site.options import SiteOptions
    from tenantry_site.rendering import RenderedSite, render
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Diagnostic": "tenantry_site.diagnostic",
            "RenderedSite": "tenantry_site.rendering",
            "Severity": "tenantry_site.diagnostic",
            "SiteConfig": "tenantry_site.config",
            "SiteOptions": "tenantry_site.options",
            "build": "tenantry_site.building",
            "json_schema": "tenantry_site.config",
            "load": "tenantry_site.loading",
            "loads": "tenantry_site.config",
            "render": "tenantry_site.rendering",
            "site_app": "tenantry_site.app",
            "site_routes": "tenantry_site.app",
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
