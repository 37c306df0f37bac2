"""What a query of a group would ask: of which source, with which text and values, and how old an answer is kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tenantry.datasources.caching.result_cache import ResultCache
from tenantry.datasources.pools import OpenSource
from tenantry.datasources.url import parse_url
from tenantry.groups import Record, UserGroup
from tenantry.sql import SQLTemplate, TracedSQL


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    """``source_id`` (``ds_…``) and ``provided_id``, the operator's own, name the source; ``engine`` is the scheme of
    its URL. ``age``: seconds since the answer was asked for that this process keeps; None if it keeps none."""

    source_id: str
    provided_id: str
    engine: str
    traced: TracedSQL
    age: float | None


def explain_query(
    opened: OpenSource,
    cache: ResultCache | None,
    group: UserGroup,
    template: SQLTemplate,
    variables: Mapping[str, Any] | Record,
) -> ExplainedQuery:
    """Binds the query for an open source. Raises as ``SQLTemplate.bind`` and ``SessionTemplate.bind`` do."""
    source, registered = opened.source, opened.registered
    traced = template.trace(variables, source.paramstyle, dialect=source.dialect, now=datetime.now(UTC))
    session = None if opened.session is None else opened.session.bind(group)
    age = None
    if cache is not None:
        with suppress(TypeError):  # a value without a fingerprint, for a driver of the host's own
            age = cache.age(opened.fingerprint(traced.bound, session, group))
    engine = parse_url(registered.url).get_backend_name()
    return ExplainedQuery(registered.id, registered.provided_id, engine, traced, age)
