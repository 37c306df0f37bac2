"""The site configuration file: its model, its JSON Schemas, and a reader that reports problems and never fails."""

from tenantry_site.config.diagnostics import CODES
from tenantry_site.config.document import loads
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.object_validator import json_schema

__all__ = ["CODES", "SiteConfig", "json_schema", "loads"]
