"""PlanTemplate: a query that its engine explains and does not run. So tables, columns and types are looked at.

It goes the way of a real query: the same source, session variables, checks of the text, limits and bound values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tenantry.datasources.driver import check_statement
from tenantry.datasources.engines.registry import engine_name
from tenantry.datasources.explanation import ExplainedQuery
from tenantry.datasources.statement import READING_DUCKDB, UNCLEAR, first_keyword, refusal
from tenantry.datasources.wrapped.wrapped_template import WrappedTemplate
from tenantry.sql import BoundSQL, SQLTemplate


class _Plans(NamedTuple):
    """What stands before a query, and with what such a query begins: another word could be an option of `explain`, as
    `analyze` is, which runs the query."""

    prefix: str
    keywords: frozenset[str]


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
"""Engine -> how it explains a query."""


class PlanTemplate(WrappedTemplate):
    """A template that gives the plan of another one; ``prefix`` is that of ``plan_prefix``."""

    def __init__(self, template: SQLTemplate, prefix: str) -> None:
        super().__init__(template)
        self._prefix = prefix

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """The statement that explains."""
        return bound._replace(sql=self._prefix + bound.sql)


def plan_prefix(query: ExplainedQuery) -> str | None:
    """What makes its engine explain a query: it stands before the text. None for an engine that explains nothing here,
    and for what is no `select`, such as `show`. Raises NotOneStatement for a text that begins as one that does not
    read."""
    plans = _PLANS.get(engine_name(query.engine) or "")
    sql = query.traced.bound.sql
    if plans is None:
        return None
    if first_keyword(sql) in plans.keywords:
        return plans.prefix
    reason = refusal(sql, READING_DUCKDB | {"exists"})
    check_statement(query.source_id, None if reason == UNCLEAR else reason)
    return None
