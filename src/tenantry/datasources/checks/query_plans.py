from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from tenantry.datasources.driver import check_statement
from tenantry.datasources.engines.registry import engine_name
from tenantry.datasources.explanation import ExplainedQuery
from tenantry.datasources.statement import READING_DUCKDB, UNCLEAR, first_keyword, refusal
from tenantry.datasources.url import parse_url
from tenantry.datasources.wrapped_templates import WrappedTemplate, can_name_columns
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL, SQLTemplate


class _Plans(NamedTuple):
    prefix: str
    """SQL that makes an engine explain the query after it."""
    # Other first words could be options of `explain`, such as `analyze`, which runs the query.
    keywords: frozenset[str]
    """First words of queries that ``prefix`` can explain."""


_SELECTS: Final = frozenset({"select", "with"})
_PLANS: Final[Mapping[str, _Plans]] = {
    "postgresql": _Plans("explain ", _SELECTS | {"values", "table"}),
    "mysql": _Plans("explain ", _SELECTS),
    "mariadb": _Plans("explain ", _SELECTS),
    "sqlite": _Plans("explain query plan ", _SELECTS | {"values"}),
    "duckdb": _Plans("explain ", _SELECTS | {"values", "from"}),
    "clickhouse": _Plans("explain ", _SELECTS),
    "chdb": _Plans("explain ", _SELECTS),
}
# Pivots are not explained: DuckDB would read their rows to find out their columns.
_PIVOT: Final = re.compile(r"\bpivot", re.IGNORECASE)


def plans_without_running(source: RegisteredSource) -> bool:
    """Whether the engine explains a query without running any part of it. Raises InvalidSource for an unusable URL."""
    # MySQL, MariaDB and ClickHouse run some subqueries.
    return can_name_columns(parse_url(source.url).get_backend_name())


class PlanTemplate(WrappedTemplate):
    def __init__(self, template: SQLTemplate, prefix: str) -> None:
        super().__init__(template)
        self._prefix = prefix

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        return bound._replace(sql=self._prefix + bound.sql)


def plan_prefix(query: ExplainedQuery) -> str | None:
    """Return the SQL to put before a query to explain it, or None if the engine cannot explain the query. Raises
    NotOneStatement for SQL that is not read-only."""
    plans = _PLANS.get(engine_name(query.engine) or "")
    sql = query.traced.bound.sql
    if plans is None or (plans is _PLANS["duckdb"] and _PIVOT.search(sql)):
        return None
    if first_keyword(sql) in plans.keywords:
        return plans.prefix
    reason = refusal(sql, READING_DUCKDB | {"exists"})
    check_statement(query.source_id, None if reason == UNCLEAR else reason)
    return None
