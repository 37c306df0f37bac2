"""A group's query, bound for its data source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tenantry.datasources.open_sources import OpenSource
from tenantry.datasources.pool.streamed_reduction import Reduction
from tenantry.datasources.query_label import QueryLabel
from tenantry.datasources.subquery_wrapper import WrappedTemplate
from tenantry.groups import Record, UserGroup
from tenantry.sql import BoundSQL, SQLTemplate


@dataclass(slots=True)
class BoundQuery:
    """Queries with equal keys share an answer; without a key nothing is shared. ``max_age`` (seconds) extends the time
    in cache."""

    opened: OpenSource
    group: UserGroup
    schema: str
    label: QueryLabel
    sql: BoundSQL
    session: BoundSQL | None
    key: str | None
    weight: Callable[[], float] | None
    wants_dicts: bool = False
    max_age: float | None = None
    reduction: Reduction | None = None

    def reduce(self, reduction: Reduction) -> None:
        self.reduction, self.key = reduction, self.key and derived_key(self.key, reduction.key)


def bind_query(
    opened: OpenSource,
    group: UserGroup,
    schema: str,
    label: QueryLabel,
    template: SQLTemplate | WrappedTemplate,
    variables: Mapping[str, Any] | Record,
    *,
    has_key: bool = True,
) -> BoundQuery:
    """Bind a template for an open source, which may close at the next ``await`` unless ``users`` counts the caller.

    A wrapped query's key starts with the inner query's; a value without a fingerprint gives no key. Raises like
    ``SQLTemplate.bind`` and ``SessionTemplate.bind``.
    """
    pool, share = opened.pool, opened.queue.limits.sharing.weight
    inner = template.template if isinstance(template, WrappedTemplate) else template
    bound = inner.bind(variables, pool.paramstyle, dialect=pool.dialect, now=datetime.now(UTC))
    sql = template.wrap(bound) if isinstance(template, WrappedTemplate) else bound
    session = None if opened.session is None else opened.session.bind(group)
    key: str | None = None
    if has_key:
        try:
            key = opened.fingerprint(bound, session, group)
            if sql is not bound:
                key = derived_key(key, opened.fingerprint(sql, session, group))
        except TypeError:
            key = None
    weight = None if share is None else partial(share, group)
    return BoundQuery(opened, group, schema, label, sql, session, key, weight)


def derived_key(key: str, derivation: str) -> str:
    return f"{key} {derivation}"


def check_owner(group: UserGroup, variables: Mapping[str, Any] | Record) -> None:
    """Raise ValueError if the variables belong to another group."""
    own = group.variables
    if variables is own:
        return
    try:
        owner = variables["user_group"]
    except KeyError:
        return
    expected = own["user_group"]
    if owner is expected:  # ``variables(request)`` extends the group's own
        return
    # A copy: the same group read again, or a record that went through a template or JSON.
    is_copy = isinstance(owner, Record | dict) and all(
        name in owner and owner[name] == expected[name] for name in ("id", "environment")
    )
    if not is_copy:
        raise ValueError("these variables belong to another user group: pass those of the group that runs the query")
