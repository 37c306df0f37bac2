"""Data sources: bound SQL, run read-only on the one source that a group's mapping names."""

from tenantry.datasources.limits import Limits
from tenantry.datasources.source import DataSource
from tenantry.datasources.sources import DataSources
from tenantry.datasources.url import check_url, display_url, resolve_url

__all__ = ["DataSource", "DataSources", "Limits", "check_url", "display_url", "resolve_url"]
