"""The components that authors use on pages. Each renders its element as safe HTML."""

from tenantry_site.components.markup import CODES
from tenantry_site.components.registry import COMPONENTS, unknown_link

__all__ = ["CODES", "COMPONENTS", "unknown_link"]
