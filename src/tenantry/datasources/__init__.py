"""Data sources: bound SQL, run read-only on the one source that a group's mapping names."""

from tenantry.datasources.driver import DataSource, Driver, Enforcement, ReadOnlyBy
from tenantry.datasources.engines import registration_notes
from tenantry.datasources.limits import Limits, take_result, take_rows, to_dicts
from tenantry.datasources.pools import DriverFactory
from tenantry.datasources.result_cache import ResultCache
from tenantry.datasources.sources import DataSources
from tenantry.datasources.url import check_url, display_url, resolve_url

__all__ = [
    "DataSource",
    "DataSources",
    "Driver",
    "DriverFactory",
    "Enforcement",
    "Limits",
    "ReadOnlyBy",
    "ResultCache",
    "check_url",
    "display_url",
    "registration_notes",
    "resolve_url",
    "take_result",
    "take_rows",
    "to_dicts",
]
