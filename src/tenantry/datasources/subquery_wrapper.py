"""Templates whose bound SQL becomes a subquery, for example to count its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tenantry.datasources.query_label import template_name
from tenantry.sql import PARAMSTYLES, BoundSQL, SQLTemplate

BindValue: TypeAlias = Callable[[Any], str]
"""Binds a value and returns its placeholder."""


def select_around(bound: BoundSQL, select: str, clauses: Callable[[BindValue], str]) -> BoundSQL:
    """Select from the bound SQL as the subquery ``tenantry_inner``, followed by ``clauses``, whose values are bound
    last. For paramstyles without names."""
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
    """A statement around ``template``."""

    def __init__(self, template: SQLTemplate) -> None:
        self.template = template
        """The inner template."""
        self.name: str = template_name(template)
        """The inner template's name."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        raise NotImplementedError
