from __future__ import annotations

from dataclasses import replace

from tenantry.backends.declared_tables import check_new_tables, check_tables
from tenantry.errors import AlreadyExists
from tenantry.groups import Environment, RegisteredSource, SourceDraft, SourceUpdate, check_session_variables


def created_source(environment: Environment, source_id: str, draft: SourceDraft) -> RegisteredSource:
    session, tables = check_session_variables(draft.url, draft.session), check_tables(draft.tables)
    return RegisteredSource(source_id, draft.provided_id, environment, draft.url, draft.trusted, session, tables)


def changed_source(source: RegisteredSource, changes: SourceUpdate) -> RegisteredSource:
    url = source.url if changes.url is None else changes.url
    return replace(
        source,
        provided_id=source.provided_id if changes.provided_id is None else changes.provided_id,
        url=url,
        trusted=source.trusted if changes.trusted is None else changes.trusted,
        session=check_session_variables(url, source.session if changes.session is None else changes.session),
        tables=source.tables if changes.tables is None else check_new_tables(source.tables, changes.tables),
    )


def name_taken(environment: Environment, provided_id: str) -> AlreadyExists:
    return AlreadyExists(
        f"environment {environment.name!r} already has a data source {provided_id!r}: choose another name",
        field="/name",
    )
