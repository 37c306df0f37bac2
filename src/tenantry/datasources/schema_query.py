"""The columns of a query, without its rows."""

from __future__ import annotations

from typing import Final

from tenantry.datasources.engines.registry import engine_name
from tenantry.datasources.subquery_wrapper import WrappedTemplate, select_around
from tenantry.errors import InvalidSettings
from tenantry.sql import BoundSQL

_ENGINES: Final = frozenset({"postgresql", "sqlite", "duckdb"})
"""Engines that run nothing when no row can match. MySQL and MariaDB run a one-row subquery while planning."""


def can_name_columns(engine: str) -> bool:
    """``engine`` is a URL scheme."""
    return engine_name(engine) in _ENGINES


class SchemaQuery(WrappedTemplate):
    """A query without rows, by a false condition and a zero limit, because engines may notice only one. ``bind`` raises
    InvalidSettings if the engine would run it."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        if bound.dialect not in _ENGINES:
            raise InvalidSettings(f"{bound.dialect} names no columns of a query without running it")
        return select_around(bound, "select *", lambda _: " where 1 = 0 limit 0")
