"""Icons: from the name that an author wrote to an SVG (icons of Font Awesome Free, CC BY 4.0, in a bundle)."""

from tenantry_site.icons.lookup import KINDS, SOCIALS, Social, nearest, svg

__all__ = ["KINDS", "SOCIALS", "Social", "nearest", "svg"]
