"""NoRowsTemplate: a query without rows, whose answer has the names of its columns, and their types where the engine
says them."""

from __future__ import annotations

from typing import Final

from tenantry.datasources.engines.registry import engine_name
from tenantry.datasources.wrapped.outer_select import select_around
from tenantry.datasources.wrapped.wrapped_template import WrappedTemplate
from tenantry.errors import InvalidSettings
from tenantry.sql import BoundSQL

_ENGINES: Final = frozenset({"postgresql", "sqlite", "duckdb"})
"""Those that see beforehand that there is no row, and so run nothing. MySQL and MariaDB do run a subquery of one row,
while they plan the query around it."""


def can_name_columns(engine: str) -> bool:
    """Whether an engine, by the scheme of its URL, names the columns of a query without running it."""
    return engine_name(engine) in _ENGINES


class NoRowsTemplate(WrappedTemplate):
    """A template that gives no row of another one: the condition and the limit both say that there is none, since some
    engines see only one of them. ``bind`` raises InvalidSettings on a dialect whose engine would run the query."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """The text as a subquery."""
        if bound.dialect not in _ENGINES:
            raise InvalidSettings(f"{bound.dialect} names no columns of a query without running it")
        return select_around(bound, "select *", lambda _: " where 1 = 0 limit 0")
