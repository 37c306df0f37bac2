"""The writes of environments, API tokens and data sources, written as those of groups are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.exc import IntegrityError

from tenantry.backends.sql import rows
from tenantry.backends.sql.insert import insert_if_new
from tenantry.backends.sql.queries import API_TOKEN, ENVIRONMENT, LIVE_API_TOKEN, SOURCE
from tenantry.backends.sql.tables import api_tokens, data_sources, environments, to_micros
from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource, UnknownEnvironment
from tenantry.groups import ApiToken, Environment, RegisteredSource, Scope, Tag


def create_environment(
    connection: Connection, name: str, tag: Tag, *, external_data_sources: bool, now: datetime
) -> Environment:
    """Raises AlreadyExists."""
    values = {
        "name": name,
        "tag": Tag(tag).value,
        "external_data_sources": external_data_sources,
        "created_at": to_micros(now),
    }
    if insert_if_new(connection, environments, values) is None:
        raise AlreadyExists(f"there is an environment {name!r} already")
    return rows.environment(connection.execute(ENVIRONMENT, {"name": name}).one())


def create_api_token(
    connection: Connection,
    environment: Environment,
    *,
    digest: bytes,
    label: str,
    scopes: Collection[Scope],
    hint: str,
    now: datetime,
) -> ApiToken:
    """Raises AlreadyExists, UnknownEnvironment."""
    values = {
        "environment_id": environment.id,
        "digest": digest,
        "label": label,
        "scopes": " ".join(sorted(Scope(scope).value for scope in scopes)),
        "hint": hint,
        "created_at": to_micros(now),
    }
    if _insert(connection, api_tokens, values, environment) is None:
        raise AlreadyExists("there is an API token with this secret already")
    return rows.api_token(connection.execute(LIVE_API_TOKEN, {"digest": digest}).one())


def revoke_api_token(connection: Connection, environment: Environment, token_id: int, *, now: datetime) -> ApiToken:
    """The revoked token; one that was revoked before keeps its time. Raises UnknownApiToken."""
    connection.execute(
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
    return rows.api_token(row)


def create_data_source(
    connection: Connection,
    environment: Environment,
    *,
    source_id: str,
    provided_id: str,
    url: str,
    trusted: bool,
    now: datetime,
) -> RegisteredSource:
    """Raises AlreadyExists, UnknownEnvironment."""
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
    return _source(connection, environment, source_id)


def delete_data_source(connection: Connection, environment: Environment, reference: str) -> RegisteredSource:
    """Raises UnknownDataSource."""
    source = _source(connection, environment, reference)
    connection.execute(
        data_sources.delete().where(data_sources.c.environment_id == environment.id, data_sources.c.id == source.id)
    )
    return source


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
