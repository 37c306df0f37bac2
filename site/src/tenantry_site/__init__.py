"""A documentation site from one typed configuration file (SPEC 2.2).

Each exported name is imported when first used, so that reading a configuration file loads neither Markdown nor a web
framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry_site.app import site_app, site_routes
    from tenantry_site.building import build
    from tenantry_site.config import SiteConfig, json_schema, loads
    from tenantry_site.diagnostic import Diagnostic, Severity, SiteError
    from tenantry_site.loading import load
    from tenantry_site.options import SiteOptions
    from tenantry_site.rendering import RenderedSite, render
else:
    _MODULES = {
        "Diagnostic": "tenantry_site.diagnostic",
        "RenderedSite": "tenantry_site.rendering",
        "Severity": "tenantry_site.diagnostic",
        "SiteConfig": "tenantry_site.config",
        "SiteError": "tenantry_site.diagnostic",
        "SiteOptions": "tenantry_site.options",
        "build": "tenantry_site.building",
        "json_schema": "tenantry_site.config",
        "load": "tenantry_site.loading",
        "loads": "tenantry_site.config",
        "render": "tenantry_site.rendering",
        "site_app": "tenantry_site.app",
        "site_routes": "tenantry_site.app",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value  # later accesses skip this function
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)


__all__ = [
    "Diagnostic",
    "RenderedSite",
    "Severity",
    "SiteConfig",
    "SiteError",
    "SiteOptions",
    "build",
    "json_schema",
    "load",
    "loads",
    "render",
    "site_app",
    "site_routes",
]
