"""The site configuration file: its model, a reader that reports problems instead of failing, and its JSON Schemas."""

from tenantry_site.config.diagnostics import CODES
from tenantry_site.config.document import loads
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.object_validator import json_schema

__all__ = ["CODES", "SiteConfig", "json_schema", "loads"]
