"""The app: a site over HTTP."""

from tenantry_site.app.application import SiteApp, site_app
from tenantry_site.app.routes import site_routes

__all__ = ["SiteApp", "site_app", "site_routes"]
