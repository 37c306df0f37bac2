"""The writes of environments, API tokens and data sources, written as those of groups are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.exc import IntegrityError

from tenantry.backends.journal import of_environment
from tenantry.backends.sql import rows
from tenantry.backends.sql.insert import insert_if_new
from tenantry.backends.sql.queries import API_TOKEN, ENVIRONMENT, LIVE_API_TOKEN, SOURCE
from tenantry.backends.sql.tables import api_tokens, data_sources, environments, to_micros
from tenantry.backends.sql.write_journal import Writer, note
from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource, UnknownEnvironment
from tenantry.groups import ApiToken, Environment, RegisteredSource, Scope, Tag


def create_environment(
    connection: Connection, writer: Writer, name: str, tag: Tag, *, external_data_sources: bool, grace_seconds: int
) -> Environment:
    """Raises AlreadyExists."""
    now = writer.now(connection)
    values = {
        "name": name,
        "tag": Tag(tag).value,
        "external_data_sources": external_data_sources,
        "created_at": to_micros(now),
        "grace_seconds": grace_seconds,
    }
    if insert_if_new(connection, environments, values) is None:
        raise AlreadyExists(f"there is an environment {name!r} already")
    made = rows.environment(connection.execute(ENVIRONMENT, {"name": name}).one())
    note(connection, writer, "environment.created", name, name, of_environment(made), at=now)
    return made


def set_grace(connection: Connection, writer: Writer, environment: Environment, grace_seconds: int) -> Environment:
    """Raises UnknownEnvironment. What is as it should be already is left alone."""
    this = environments.c.id == environment.id
    changed = connection.execute(
        environments.update()
        .where(this, environments.c.grace_seconds != grace_seconds)
        .values(grace_seconds=grace_seconds)
    )
    row = connection.execute(ENVIRONMENT, {"name": environment.name}).first()
    if row is None or row[0] != environment.id:
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first")
    if changed.rowcount:
        details = {"grace_seconds": str(grace_seconds)}
        at = writer.now(connection)
        note(connection, writer, "environment.grace_set", environment.name, environment.name, details, at=at)
    return rows.environment(row)


def create_api_token(
    connection: Connection,
    writer: Writer,
    environment: Environment,
    *,
    digest: bytes,
    label: str,
    scopes: Collection[Scope],
    hint: str,
) -> ApiToken:
    """Raises AlreadyExists, UnknownEnvironment."""
    now, named = writer.now(connection), " ".join(sorted(Scope(scope).value for scope in scopes))
    values = {
        "environment_id": environment.id,
        "digest": digest,
        "label": label,
        "scopes": named,
        "hint": hint,
        "created_at": to_micros(now),
    }
    if _insert(connection, api_tokens, values, environment) is None:
        raise AlreadyExists("there is an API token with this secret already")
    made = rows.api_token(connection.execute(LIVE_API_TOKEN, {"digest": digest}).one())
    details = {"label": label, "scopes": named}
    note(connection, writer, "api_token.created", made.environment.name, str(made.id), details, at=now)
    return made


def revoke_api_token(connection: Connection, writer: Writer, environment: Environment, token_id: int) -> ApiToken:
    """The revoked token; one that was revoked before keeps its time. Raises UnknownApiToken."""
    now = writer.now(connection)
    changed = connection.execute(
        api_tokens.update()
        .where(
            api_tokens.c.environment_id == environment.id,
            api_tokens.c.id == token_id,
            api_tokens.c.revoked_at.is_(None),
        )
        .values(revoked_at=to_micros(now))
    )
    row = connection.execute(API_TOKEN, {"environment_id": environment.id, "token_id": token_id}).first()
    if row is None:
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")
    token = rows.api_token(row)
    if changed.rowcount:
        details = {"label": token.label}
        note(connection, writer, "api_token.revoked", token.environment.name, str(token_id), details, at=now)
    return token


def create_data_source(
    connection: Connection,
    writer: Writer,
    environment: Environment,
    *,
    source_id: str,
    provided_id: str,
    url: str,
    trusted: bool,
) -> RegisteredSource:
    """Raises AlreadyExists, UnknownEnvironment. The audit trail does not have the URL: it may hold a password."""
    now = writer.now(connection)
    values = {
        "environment_id": environment.id,
        "id": source_id,
        "provided_id": provided_id,
        "url": url,
        "trusted": trusted,
        "created_at": to_micros(now),
    }
    if _insert(connection, data_sources, values, environment) is None:
        raise AlreadyExists(f"environment {environment.name!r} has a data source {provided_id!r} already")
    source = _source(connection, environment, source_id)
    _note_source(connection, writer, "data_source.created", source, now)
    return source


def delete_data_source(
    connection: Connection, writer: Writer, environment: Environment, reference: str
) -> RegisteredSource:
    """Raises UnknownDataSource."""
    source = _source(connection, environment, reference)
    gone = connection.execute(
        data_sources.delete().where(data_sources.c.environment_id == environment.id, data_sources.c.id == source.id)
    )
    if gone.rowcount:  # else another writer was first
        _note_source(connection, writer, "data_source.deleted", source, writer.now(connection))
    return source


def _note_source(connection: Connection, writer: Writer, action: str, source: RegisteredSource, now: datetime) -> None:
    details = {"provided_id": source.provided_id}
    note(connection, writer, action, source.environment.name, source.id, details, at=now)


def _source(connection: Connection, environment: Environment, reference: str) -> RegisteredSource:
    row = connection.execute(SOURCE, {"environment_id": environment.id, "reference": reference}).first()
    if row is None:
        raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")
    return rows.data_source(row)


def _insert(connection: Connection, table: Table, values: dict[str, Any], environment: Environment) -> int | None:
    try:
        return insert_if_new(connection, table, values)
    except IntegrityError as error:  # the only other rule of these tables: the environment is there
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first") from error
