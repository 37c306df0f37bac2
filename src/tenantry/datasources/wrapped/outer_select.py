"""select_around: a select around the author's own text, for a WrappedTemplate.

The text stays as it is and runs as a subquery. What is added to it are names of columns, and values, which are bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tenantry.sql import PARAMSTYLES, BoundSQL

BindValue: TypeAlias = Callable[[Any], str]
"""Binds a value, and gives its placeholder."""


def select_around(bound: BoundSQL, select: str, clauses: Callable[[BindValue], str]) -> BoundSQL:
    """``select`` from the text as the subquery ``tenantry_inner``, and clauses after it, whose values are bound: they
    come last in the text. For paramstyles without names."""
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
