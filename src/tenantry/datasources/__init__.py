"""Data sources: bound SQL, run read-only on the one source that a group's mapping names."""

from tenantry.datasources.activity import Monitoring
from tenantry.datasources.caching.redis_results import RedisResults
from tenantry.datasources.caching.result_cache import ResultCache
from tenantry.datasources.checks.connection_check import check_connection, check_connections
from tenantry.datasources.driver import (
    Answer,
    DeclaringDriver,
    Driver,
    Enforcement,
    OpenRows,
    ReadOnlyBy,
    ReusingDriver,
    SessionDriver,
    StreamingDriver,
)
from tenantry.datasources.engines.built_in import registration_notes
from tenantry.datasources.open_sources import DriverFactory
from tenantry.datasources.pages import Page, fetch_page
from tenantry.datasources.pool.limits import Limits, Sharing, StreamLimits, take_result, take_rows, to_dicts
from tenantry.datasources.result_stream import ResultStream
from tenantry.datasources.sources import DataSources
from tenantry.datasources.stop_signals import stop_on_signals
from tenantry.datasources.url import check_url, display_url, resolve_url, secret_state
from tenantry.datasources.url_secrets.encryption import encrypt_url
from tenantry.datasources.url_secrets.reencryption import encrypt_sources
from tenantry.groups import Usage
from tenantry.http.viewers import while_connected
from tenantry.usage import GroupUsage, UsageCounter

__all__ = [
    "Answer",
    "DataSources",
    "DeclaringDriver",
    "Driver",
    "DriverFactory",
    "Enforcement",
    "GroupUsage",
    "Limits",
    "Monitoring",
    "OpenRows",
    "Page",
    "ReadOnlyBy",
    "RedisResults",
    "ResultCache",
    "ResultStream",
    "ReusingDriver",
    "SessionDriver",
    "Sharing",
    "StreamLimits",
    "StreamingDriver",
    "Usage",
    "UsageCounter",
    "check_connection",
    "check_connections",
    "check_url",
    "display_url",
    "encrypt_sources",
    "encrypt_url",
    "fetch_page",
    "registration_notes",
    "resolve_url",
    "secret_state",
    "stop_on_signals",
    "take_result",
    "take_rows",
    "to_dicts",
    "while_connected",
]
