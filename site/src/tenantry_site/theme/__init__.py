"""The layout around a page, the colours of the site, and its Content-Security-Policy."""

from tenantry_site.theme.policy import csp
from tenantry_site.theme.stylesheet import colors_css
from tenantry_site.theme.theme import CODES, Theme

__all__ = ["CODES", "Theme", "colors_css", "csp"]
