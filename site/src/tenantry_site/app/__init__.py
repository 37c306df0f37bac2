"""Serves a site over HTTP, as an ASGI app."""

from tenantry_site.app.application import SiteApp, site_app
from tenantry_site.app.routes import site_routes

__all__ = ["SiteApp", "site_app", "site_routes"]
