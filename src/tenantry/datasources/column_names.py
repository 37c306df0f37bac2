"""ColumnNamesTemplate: a query without rows, whose answer has the names of its columns and nothing else."""

from __future__ import annotations

from typing import Final

from tenantry.datasources.url import ENGINES
from tenantry.datasources.wrapped_template import WrappedTemplate
from tenantry.sql import BoundSQL

_ENGINES: Final = frozenset({"postgresql", "sqlite", "duckdb"})
"""Those that see beforehand that there is no row, and so run nothing. MySQL and MariaDB do run a subquery of one row,
while they plan the query around it."""


def can_name_columns(engine: str) -> bool:
    """Whether an engine, by the scheme of its URL, names the columns of a query without running it."""
    return ENGINES.get(engine, "") in _ENGINES


class ColumnNamesTemplate(WrappedTemplate):
    """A template that gives no row of another one, for an engine of ``can_name_columns``: the condition and the limit
    both say that there is none, since some engines see only one of them."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """The text as a subquery."""
        text = bound.sql.rstrip(" \t\r\n;")
        head, tail = "select * from (\n", "\n) tenantry_names where 1 = 0 limit 0"
        return bound._replace(sql=head + text + tail)
