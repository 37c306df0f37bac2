from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from tenantry.datasources.authors import refuse_private_names
from tenantry.datasources.guarding import guarded_template
from tenantry.datasources.open_sources import OpenSource
from tenantry.datasources.pool.streamed_reduction import Reduction
from tenantry.datasources.query_label import QueryLabel
from tenantry.datasources.wrapped_templates import WrappedTemplate
from tenantry.groups import Record, RegisteredSource, UserGroup
from tenantry.sql import BoundSQL, SQLTemplate


class QueryRequest(NamedTuple):
    group: UserGroup
    schema: str
    template: SQLTemplate | WrappedTemplate
    variables: Mapping[str, Any] | Record
    registered: RegisteredSource
    label: QueryLabel
    now: datetime | None = None
    """The time from which relative ranges are counted; None: the current time."""


@dataclass(slots=True)
class BoundQuery:
    opened: OpenSource
    group: UserGroup
    schema: str
    label: QueryLabel
    sql: BoundSQL
    session: BoundSQL | None
    key: str | None
    """Queries with equal keys share a result. None: the result is not shared."""
    weight: Callable[[], float] | None
    wants_dicts: bool = False
    max_age: float | None = None
    """If this is longer than the cache's limit, the cache keeps the result for this many seconds."""
    reduction: Reduction | None = None

    def reduce(self, reduction: Reduction) -> None:
        self.reduction, self.key = reduction, self.key and derived_key(self.key, reduction.key)


def bind_query(opened: OpenSource, request: QueryRequest, *, has_key: bool = True) -> BoundQuery:
    """Bind the template of a request. With ``has_key``, make the cache key of the result, or None if cache keys do not
    support the type of a value."""
    group, template = request.group, request.template
    pool, share = opened.pool, opened.queue.limits.sharing.weight
    inner = template.template if isinstance(template, WrappedTemplate) else template
    variables = request.variables
    if opened.tables is not None:  # saves the call for sources without a declaration
        inner, variables = guarded_template(opened.tables, inner, group, variables)
    bound = inner.bind(variables, pool.paramstyle, dialect=pool.dialect, now=request.now or datetime.now(UTC))
    sql = template.wrap(bound) if isinstance(template, WrappedTemplate) else bound
    if opened.for_authors:
        refuse_private_names(opened.secrets.source, sql)
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
    return BoundQuery(opened, group, request.schema, request.label, sql, session, key, weight)


def derived_key(key: str, derivation: str) -> str:
    return f"{key} {derivation}"


def check_owner(group: UserGroup, variables: Mapping[str, Any] | Record) -> None:
    """Raise ValueError if the variables belong to another group, or to another viewer of the group. Variables without
    ``user_group`` and ``viewer`` are accepted."""
    own = group.variables
    if variables is own or not ("user_group" in variables or "viewer" in variables):
        return
    if "user_group" in variables and not _is_same_group(variables["user_group"], own["user_group"]):
        raise ValueError("these variables belong to another user group: pass those of the group that runs the query")
    if _viewer_of(variables) != _viewer_of(own):  # also for variables without a group
        raise ValueError("these variables belong to another viewer: pass those of the viewer who runs the query")


def _is_same_group(owner: Any, expected: Any) -> bool:
    if owner is expected:  # as in ``variables(request)``, which adds variables to those of the group
        return True
    # A copy is allowed: the same group read again, or a record that passed through a template or JSON.
    return isinstance(owner, Record | dict) and all(
        name in owner and owner[name] == expected[name] for name in ("id", "environment")
    )


def _viewer_of(variables: Mapping[str, Any] | Record) -> Any:
    return variables["viewer"] if "viewer" in variables else None  # noqa: SIM401  # a Record has no ``get``
