"""The app: a site over HTTP."""

from tenantry.site.app.site_app import SiteApp, site_app

__all__ = ["SiteApp", "site_app"]
