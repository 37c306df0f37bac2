"""The components of a page: elements by name, rendered as safe HTML."""

from tenantry_site.components.markup import CODES
from tenantry_site.components.registry import COMPONENTS, unknown_link

__all__ = ["CODES", "COMPONENTS", "unknown_link"]
