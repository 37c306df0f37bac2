from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tenantry.datasources.engines.registry import engine_name
from tenantry.datasources.query_label import template_name
from tenantry.errors import InvalidSettings
from tenantry.sql import PARAMSTYLES, BoundSQL, SQLTemplate

# Without MySQL and MariaDB, which run a subquery of one row while planning.
_ENGINES: Final = frozenset({"postgresql", "sqlite", "duckdb"})
"""Engines that do not run the inner SELECT of a SchemaQuery."""

BindValue: TypeAlias = Callable[[Any], str]
"""A function that adds a value to the bound values and returns its placeholder."""


def select_around(bound: BoundSQL, select: str, clauses: Callable[[BindValue], str]) -> BoundSQL:
    """Return a statement of ``select``, the bound SQL as a subquery, and ``clauses``, such as ``select * from (…)
    tenantry_inner limit ?``. The values of ``clauses`` are bound last. Only positional paramstyles are supported."""
    style = PARAMSTYLES[bound.paramstyle]
    values = list(bound.params or ())

    def bind_value(value: Any) -> str:
        values.append(value)
        return style.placeholder(len(values))

    added = clauses(bind_value)
    text = bound.sql.rstrip(" \t\r\n;")
    if style.doubles_percent and bound.params is None and values:
        text = text.replace("%", "%%")
    sql = f"{select} from (\n{text}\n) tenantry_inner{added}"
    return bound._replace(sql=sql, params=tuple(values) if values else bound.params)


class WrappedTemplate:
    """Puts ``template``'s SQL into a larger statement, for example to count its rows."""

    def __init__(self, template: SQLTemplate) -> None:
        self.template = template
        self.name: str = template_name(template)

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        raise NotImplementedError


class SchemaQuery(WrappedTemplate):
    """Makes the engine return only the column names of a template, and no rows."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """Return the query for the column names. Raises InvalidSettings for an engine that would run ``bound`` to name
        its columns."""
        if bound.dialect not in _ENGINES:
            raise InvalidSettings(
                f"{bound.dialect} would have to run the query to find the names of its columns; these engines need not "
                f"run it: {', '.join(sorted(_ENGINES))}"
            )
        # Each condition excludes all rows. Two are used because an engine may recognize only one of them before it runs
        # the query.
        return select_around(bound, "select *", lambda _: " where 1 = 0 limit 0")


def can_name_columns(engine: str) -> bool:
    """Whether SchemaQuery works on the engine of this URL scheme."""
    return engine_name(engine) in _ENGINES
