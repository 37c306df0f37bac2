"""Data sources: bound SQL, run read-only on the one source that a group's mapping names."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.datasources.caching.redis_results import RedisResults
from tenantry.datasources.caching.result_cache import ResultCache
from tenantry.datasources.checks.connection_check import check_connection, check_connections
from tenantry.datasources.delivery import ResultStream
from tenantry.datasources.driver import (
    Answer,
    DataSource,
    DeclaringDriver,
    Driver,
    Enforcement,
    OpenRows,
    ReadOnlyBy,
    ReusingDriver,
    SessionDriver,
    StreamingDriver,
)
from tenantry.datasources.engines.engine import DriverFactory, Engine
from tenantry.datasources.engines.registry import check_url, registration_notes
from tenantry.datasources.pages import Page, fetch_page
from tenantry.datasources.pool.limits import Limits, StreamLimits, take_result, take_rows, to_dicts
from tenantry.datasources.sources import DataSources
from tenantry.datasources.stop_signals import stop_on_signals
from tenantry.datasources.url import display_url, resolve_url, secret_state
from tenantry.datasources.url_secrets.encryption import encrypt_url
from tenantry.datasources.url_secrets.reencryption import encrypt_sources
from tenantry.groups import Usage
from tenantry.http import while_connected
from tenantry.usage import GroupUsage, UsageCounter

if TYPE_CHECKING:
    from tenantry.datasources.activity import Activity as Activity
    from tenantry.datasources.driver import C as C
    from tenantry.datasources.driver import Pieces as Pieces
    from tenantry.datasources.driver import as_result as as_result
    from tenantry.datasources.explanation import ExplainedQuery as ExplainedQuery
    from tenantry.datasources.pages import PLAIN_NAME as PLAIN_NAME
    from tenantry.datasources.pages import CountTemplate as CountTemplate
    from tenantry.datasources.pages import PagedTemplate as PagedTemplate
    from tenantry.datasources.pages import has_pages as has_pages
    from tenantry.datasources.pool.many_rows import Reduction as Reduction
    from tenantry.datasources.pool.threads import ThreadedSource as ThreadedSource
    from tenantry.datasources.pool.turns import Turn as Turn
    from tenantry.datasources.pool.turns import Turns as Turns
    from tenantry.datasources.pools import source_name as source_name
    from tenantry.datasources.query_folder import QueryFolder as QueryFolder
    from tenantry.datasources.query_folder import is_within as is_within
    from tenantry.datasources.query_folder import read_query_text as read_query_text
    from tenantry.datasources.url import parse_url as parse_url
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.datasources.activity": "Activity",
            "tenantry.datasources.driver": "C Pieces as_result",
            "tenantry.datasources.explanation": "ExplainedQuery",
            "tenantry.datasources.pages": "CountTemplate PLAIN_NAME PagedTemplate has_pages",
            "tenantry.datasources.pool.many_rows": "Reduction",
            "tenantry.datasources.pool.threads": "ThreadedSource",
            "tenantry.datasources.pool.turns": "Turn Turns",
            "tenantry.datasources.pools": "source_name",
            "tenantry.datasources.query_folder": "QueryFolder is_within read_query_text",
            "tenantry.datasources.url": "parse_url",
        },
    )

__all__ = [
    "Answer",
    "DataSource",
    "DataSources",
    "DeclaringDriver",
    "Driver",
    "DriverFactory",
    "Enforcement",
    "Engine",
    "GroupUsage",
    "Limits",
    "OpenRows",
    "Page",
    "ReadOnlyBy",
    "RedisResults",
    "ResultCache",
    "ResultStream",
    "ReusingDriver",
    "SessionDriver",
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
