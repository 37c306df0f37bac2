"""BoundStatement: what a template becomes for one data source, and keys of what is made of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tenantry.datasources.driver import DataSource
from tenantry.datasources.subquery_wrapper import WrappedTemplate
from tenantry.groups import Record
from tenantry.sql import BoundSQL, SQLTemplate


class BoundStatement(NamedTuple):
    """``sql`` is what runs. ``query`` is the template's own text: the same, or what a WrappedTemplate has put another
    statement around."""

    sql: BoundSQL
    query: BoundSQL


def bind_statement(
    template: SQLTemplate | WrappedTemplate, variables: Mapping[str, Any] | Record, source: DataSource
) -> BoundStatement:
    """Raises as ``SQLTemplate.bind`` does."""
    plain = template.template if isinstance(template, WrappedTemplate) else template
    query = plain.bind(variables, source.paramstyle, dialect=source.dialect, now=datetime.now(UTC))
    return BoundStatement(template.wrap(query) if isinstance(template, WrappedTemplate) else query, query)


def made_of(key: str, how: str) -> str:
    """The key of what is made of the query with this key."""
    return f"{key} {how}"
