"""The components of a page: elements by name, drawn as safe HTML."""

from tenantry.site.components.links import unknown_link
from tenantry.site.components.notes import CODES
from tenantry.site.components.table import COMPONENTS

__all__ = ["CODES", "COMPONENTS", "unknown_link"]
