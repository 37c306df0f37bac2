from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tenantry.datasources.authors import refuse_private_names
from tenantry.datasources.caching.result_cache import ResultCache
from tenantry.datasources.guarding import guarded_template
from tenantry.datasources.open_sources import OpenSource
from tenantry.datasources.url import parse_url
from tenantry.groups import Record, UserGroup
from tenantry.sql import AppliedGuard, SQLTemplate, TracedSQL


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    source_id: str
    """Tenantry's id of the source (``ds_…``)."""
    provided_id: str
    """The id that the operator gave the source."""
    engine: str
    """The URL scheme."""
    traced: TracedSQL
    age: float | None
    """Age of the cached result in seconds; None if the cache has no result."""
    guards: tuple[AppliedGuard, ...] = ()
    """The declared tables that the query names, each with the SQL that replaces it."""
    notes: tuple[str, ...] = ()
    """Warnings for authors, for example that a query cannot be stopped or that the database user is a superuser."""


def explain_query(
    opened: OpenSource,
    cache: ResultCache | None,
    group: UserGroup,
    template: SQLTemplate,
    variables: Mapping[str, Any] | Record,
    now: datetime | None = None,
) -> ExplainedQuery:
    """Describe a query without running it. Raises the errors of ``SQLTemplate.bind`` and ``SessionTemplate.bind``, and
    PrivateNameUsed."""
    pool, registered = opened.pool, opened.registered
    guarded, variables = guarded_template(opened.tables, template, group, variables)
    traced = guarded.trace(variables, pool.paramstyle, dialect=pool.dialect, now=now or datetime.now(UTC))
    if opened.for_authors:
        refuse_private_names(opened.secrets.source, traced.bound)
    session = None if opened.session is None else opened.session.bind(group)
    age = None
    if cache is not None:
        with suppress(TypeError):  # no fingerprint: only a driver of the host program accepts such a value
            age = cache.age(opened.fingerprint(traced.bound, session, group))
    engine = parse_url(registered.url).get_backend_name()
    guards = guarded.guards(pool.dialect)
    return ExplainedQuery(
        registered.id, registered.provided_id, engine, traced, age, guards, opened.notes if opened.for_authors else ()
    )
