"""Icons as SVG, by name. The icons are from Font Awesome Free (CC BY 4.0)."""

from tenantry_site.icons.lookup import KINDS, SOCIALS, Social, nearest, svg

__all__ = ["KINDS", "SOCIALS", "Social", "nearest", "svg"]
