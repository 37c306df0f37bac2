from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenantry.backends.declared_tables import check_new_tables
from tenantry.errors import AlreadyExists
from tenantry.groups import Environment, RegisteredSource, check_session_variables


def changed_source(
    source: RegisteredSource,
    *,
    provided_id: str | None,
    url: str | None,
    trusted: bool | None,
    session: Mapping[str, str] | None,
    tables: Mapping[str, Any] | None,
) -> RegisteredSource:
    """Return ``source`` with the given values; None keeps a value. Raises InvalidSource like ``SourceStore.update``."""
    changed = replace(
        source,
        provided_id=source.provided_id if provided_id is None else provided_id,
        url=source.url if url is None else url,
        trusted=source.trusted if trusted is None else trusted,
        tables=source.tables if tables is None else check_new_tables(source.tables, tables),
    )
    return changed if session is None else replace(changed, session=check_session_variables(changed.url, session))


def name_taken(environment: Environment, provided_id: str) -> AlreadyExists:
    return AlreadyExists(
        f"environment {environment.name!r} already has a data source {provided_id!r}: choose another name",
        field="/name",
    )
