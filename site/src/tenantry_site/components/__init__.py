"""The components of a page: elements by name, drawn as safe HTML."""

from tenantry_site.components.links import unknown_link
from tenantry_site.components.notes import CODES
from tenantry_site.components.table import COMPONENTS

__all__ = ["CODES", "COMPONENTS", "unknown_link"]
