"""BoundStatement: what a template becomes for one data source, and the key of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tenantry.datasources.driver import DataSource
from tenantry.datasources.pools import OpenSource
from tenantry.datasources.wrapped_template import WrappedTemplate
from tenantry.groups import Record, UserGroup
from tenantry.sql import BoundSQL, SQLTemplate


class BoundStatement(NamedTuple):
    """``sql`` is what runs. ``query`` is the template's own text: the same, or what a WrappedTemplate has put another
    statement around."""

    sql: BoundSQL
    query: BoundSQL

    def key(self, opened: OpenSource, session: BoundSQL | None, group: UserGroup) -> str | None:
        """The key of its answer, which begins with that of the query's own; None where it has a value without a
        fingerprint, for a driver of the host's own."""
        with suppress(TypeError):
            key = opened.fingerprint(self.query, session, group)
            return key if self.sql is self.query else made_of(key, opened.fingerprint(self.sql, session, group))
        return None


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
