"""Runs read-only SQL on the data source that a group's mapping names."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.datasources.activity import Activity as Activity
    from tenantry.datasources.activity import Monitoring
    from tenantry.datasources.authors import is_guard_required as is_guard_required
    from tenantry.datasources.caching.redis_results import RedisResults
    from tenantry.datasources.caching.result_cache import ResultCache
    from tenantry.datasources.checks.connection_check import check_connection, check_connections
    from tenantry.datasources.declared_tables import TABLES_FILE as TABLES_FILE
    from tenantry.datasources.declared_tables import find_tables as find_tables
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
    from tenantry.datasources.driver import C as C
    from tenantry.datasources.driver import Chunks as Chunks
    from tenantry.datasources.driver import as_result as as_result
    from tenantry.datasources.driver import timeout_error as timeout_error
    from tenantry.datasources.engines.engine import DriverFactory, Engine
    from tenantry.datasources.engines.registry import check_url, registration_notes
    from tenantry.datasources.explanation import ExplainedQuery as ExplainedQuery
    from tenantry.datasources.open_sources import source_name as source_name
    from tenantry.datasources.pages import PLAIN_NAME as PLAIN_NAME
    from tenantry.datasources.pages import CountTemplate as CountTemplate
    from tenantry.datasources.pages import Page, fetch_page
    from tenantry.datasources.pages import PagedTemplate as PagedTemplate
    from tenantry.datasources.pages import has_pages as has_pages
    from tenantry.datasources.pool.connection_pool import ConnectionPool as ConnectionPool
    from tenantry.datasources.pool.fair_queue import FairQueue as FairQueue
    from tenantry.datasources.pool.fair_queue import Turn as Turn
    from tenantry.datasources.pool.query_limits import Limits, Sharing, StreamLimits, take_result
    from tenantry.datasources.pool.streamed_reduction import Reduction as Reduction
    from tenantry.datasources.query_folder import QueryFolder as QueryFolder
    from tenantry.datasources.query_folder import is_within as is_within
    from tenantry.datasources.query_folder import read_query_text as read_query_text
    from tenantry.datasources.result_stream import ResultStream
    from tenantry.datasources.sources import DataSources
    from tenantry.datasources.stop_signals import stop_on_signals
    from tenantry.datasources.url import display_url, resolve_url, secret_state
    from tenantry.datasources.url import is_same_address as is_same_address
    from tenantry.datasources.url import missing_path as missing_path
    from tenantry.datasources.url import parse_url as parse_url
    from tenantry.datasources.url import source_timezone as source_timezone
    from tenantry.datasources.url import with_password as with_password
    from tenantry.datasources.url_secrets.encryption import decrypt_url as decrypt_url
    from tenantry.datasources.url_secrets.encryption import encrypt_sources, encrypt_url
    from tenantry.datasources.url_secrets.encryption import encrypting_keys as encrypting_keys
    from tenantry.datasources.url_secrets.encryption import is_encrypted as is_encrypted
    from tenantry.datasources.wrapped_templates import SchemaQuery as SchemaQuery
    from tenantry.datasources.wrapped_templates import WrappedTemplate as WrappedTemplate
    from tenantry.groups import Usage
    from tenantry.http import while_connected
    from tenantry.usage import GroupUsage, UsageCounter
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.datasources.activity": "Activity Monitoring",
            "tenantry.datasources.authors": "is_guard_required",
            "tenantry.datasources.caching.redis_results": "RedisResults",
            "tenantry.datasources.caching.result_cache": "ResultCache",
            "tenantry.datasources.checks.connection_check": "check_connection check_connections",
            "tenantry.datasources.declared_tables": "TABLES_FILE find_tables",
            "tenantry.datasources.result_stream": "ResultStream",
            "tenantry.datasources.driver": (
                "Answer C Chunks DeclaringDriver Driver Enforcement OpenRows ReadOnlyBy "
                "ReusingDriver SessionDriver StreamingDriver as_result timeout_error"
            ),
            "tenantry.datasources.engines.engine": "DriverFactory Engine",
            "tenantry.datasources.engines.registry": "check_url registration_notes",
            "tenantry.datasources.explanation": "ExplainedQuery",
            "tenantry.datasources.pages": "CountTemplate PLAIN_NAME Page PagedTemplate fetch_page has_pages",
            "tenantry.datasources.pool.query_limits": "Limits Sharing StreamLimits take_result",
            "tenantry.datasources.pool.streamed_reduction": "Reduction",
            "tenantry.datasources.pool.connection_pool": "ConnectionPool",
            "tenantry.datasources.pool.fair_queue": "FairQueue Turn",
            "tenantry.datasources.open_sources": "source_name",
            "tenantry.datasources.query_folder": "QueryFolder is_within read_query_text",
            "tenantry.datasources.sources": "DataSources",
            "tenantry.datasources.wrapped_templates": "SchemaQuery WrappedTemplate",
            "tenantry.datasources.stop_signals": "stop_on_signals",
            "tenantry.datasources.url": (
                "display_url is_same_address missing_path parse_url resolve_url secret_state source_timezone "
                "with_password"
            ),
            "tenantry.datasources.url_secrets.encryption": (
                "decrypt_url encrypt_sources encrypt_url encrypting_keys is_encrypted"
            ),
            "tenantry.groups": "Usage",
            "tenantry.http": "while_connected",
            "tenantry.usage": "GroupUsage UsageCounter",
        },
    )

__all__ = [
    "Answer",
    "DataSources",
    "DeclaringDriver",
    "Driver",
    "DriverFactory",
    "Enforcement",
    "Engine",
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
    "while_connected",
]
