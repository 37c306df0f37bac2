"""The app: a site over HTTP."""

from tenantry.site.app.application import SiteApp, site_app

__all__ = ["SiteApp", "site_app"]
