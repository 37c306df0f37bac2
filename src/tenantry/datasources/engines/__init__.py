"""Drivers of databases. Also exports what drivers in other distributions use (docs/own-engine.md)."""

from tenantry.datasources.driver import (
    check_statement,
    query_error,
    refuse_dynamic_sql,
    statement_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.engines.engine import UNHELD, Engine
from tenantry.datasources.engines.json_columns import with_json
from tenantry.datasources.engines.tls import is_loopback
from tenantry.datasources.query_label import untagged
from tenantry.datasources.statement import SEVERAL, UNCLEAR, refusal
from tenantry.datasources.url import parse_url

__all__ = [
    "SEVERAL",
    "UNCLEAR",
    "UNHELD",
    "Engine",
    "check_statement",
    "is_loopback",
    "parse_url",
    "query_error",
    "refusal",
    "refuse_dynamic_sql",
    "statement_error",
    "timeout_error",
    "unreachable_error",
    "untagged",
    "with_json",
]
