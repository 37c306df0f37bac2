"""Environments, API tokens, data sources and the audit trail of an SQLStore: its methods, and what each write does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.exc import IntegrityError

from tenantry.backends.audit import environment_details
from tenantry.backends.sql import queries, rows
from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.engine import insert_if_new, remaining
from tenantry.backends.sql.runner import Runner
from tenantry.backends.sql.tables import api_tokens, data_sources, environments
from tenantry.backends.stored import StoreClock
from tenantry.database.own_tables import check_source
from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource, UnknownEnvironment
from tenantry.groups import UNNAMED, ApiToken, AuditEntry, Author, Environment, RegisteredSource, Scope, Tag, to_micros


class SQLDirectory:
    """An EnvironmentStore, ApiTokenStore, SourceStore and AuditTrail (tenantry.ports)."""

    _runner: Runner
    _clock: StoreClock

    # --- EnvironmentStore ---

    async def create_environment(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        work = partial(
            _create_environment,
            name=name,
            tag=tag,
            external_data_sources=external_data_sources,
            grace_seconds=grace_seconds,
        )
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        work = partial(_set_grace, environment=environment, grace_seconds=grace_seconds)
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    async def environment(self, name: str) -> Environment | None:
        found = await self._runner.read(queries.ENVIRONMENT, self._runner.deadline(), name=name)
        return rows.environment(found[0]) if found else None

    async def environments(self) -> Sequence[Environment]:
        return [rows.environment(row) for row in await self._runner.read(queries.ENVIRONMENTS, self._runner.deadline())]

    # --- ApiTokenStore ---

    async def create_api_token(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,
        author: Author = UNNAMED,
    ) -> ApiToken:
        work = partial(
            _create_api_token,
            environment=environment,
            digest=digest,
            label=label,
            scopes=scopes,
            hint=hint,
        )
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    async def api_token(self, digest: bytes) -> ApiToken | None:
        found = await self._runner.read(queries.LIVE_API_TOKEN, self._runner.deadline(), digest=digest)
        return rows.api_token(found[0]) if found else None

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        found = await self._runner.read(queries.API_TOKENS, self._runner.deadline(), environment_id=environment.id)
        return [rows.api_token(row) for row in found]

    async def revoke_api_token(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> ApiToken:
        work = partial(_revoke_api_token, environment=environment, token_id=token_id)
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = await self._runner.read(
            queries.SOURCE, self._runner.deadline(), environment_id=environment.id, reference=reference
        )
        return rows.data_source(found[0]) if found else None

    async def create_data_source(
        self,
        environment: Environment,
        *,
        source_id: str,
        provided_id: str,
        url: str,
        trusted: bool = False,
        author: Author = UNNAMED,
    ) -> RegisteredSource:
        deadline = self._runner.deadline()
        await check_source(url, remaining(deadline) / 2)
        work = partial(
            _create_data_source,
            environment=environment,
            source_id=source_id,
            provided_id=provided_id,
            url=url,
            trusted=trusted,
        )
        return await self._runner.write(work, WriteContext(author, self._clock), deadline)

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = await self._runner.read(queries.SOURCES, self._runner.deadline(), environment_id=environment.id)
        return [rows.data_source(row) for row in found]

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        work = partial(_delete_data_source, environment=environment, reference=reference)
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    # --- AuditTrail ---

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        runner = self._runner
        if environment is None:
            found = await runner.read(queries.AUDIT, runner.deadline(), after=after, limit=limit)
        else:
            query = queries.AUDIT_OF_ENVIRONMENT
            found = await runner.read(query, runner.deadline(), environment=environment, after=after, limit=limit)
        return [rows.audit_entry(row) for row in found]


def _create_environment(
    connection: Connection,
    context: WriteContext,
    name: str,
    tag: Tag,
    *,
    external_data_sources: bool,
    grace_seconds: int,
) -> Environment:
    """Raises AlreadyExists."""
    now = context.now(connection)
    values = {
        "name": name,
        "tag": Tag(tag).value,
        "external_data_sources": external_data_sources,
        "created_at": to_micros(now),
        "grace_seconds": grace_seconds,
    }
    if insert_if_new(connection, environments, values) is None:
        raise AlreadyExists(f"there is an environment {name!r} already")
    made = rows.environment(connection.execute(queries.ENVIRONMENT, {"name": name}).one())
    note(connection, context, "environment.created", name, name, environment_details(made), at=now)
    return made


def _set_grace(
    connection: Connection, context: WriteContext, environment: Environment, grace_seconds: int
) -> Environment:
    """Raises UnknownEnvironment. What is as it should be already is left alone."""
    this = environments.c.id == environment.id
    changed = connection.execute(
        environments.update()
        .where(this, environments.c.grace_seconds != grace_seconds)
        .values(grace_seconds=grace_seconds)
    )
    row = connection.execute(queries.ENVIRONMENT, {"name": environment.name}).first()
    if row is None or row[0] != environment.id:
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first")
    if changed.rowcount:
        details = {"grace_seconds": str(grace_seconds)}
        at = context.now(connection)
        note(connection, context, "environment.grace_set", environment.name, environment.name, details, at=at)
    return rows.environment(row)


def _create_api_token(
    connection: Connection,
    context: WriteContext,
    environment: Environment,
    *,
    digest: bytes,
    label: str,
    scopes: Collection[Scope],
    hint: str,
) -> ApiToken:
    """Raises AlreadyExists, UnknownEnvironment."""
    now, named = context.now(connection), " ".join(sorted(Scope(scope).value for scope in scopes))
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
    made = rows.api_token(connection.execute(queries.LIVE_API_TOKEN, {"digest": digest}).one())
    details = {"label": label, "scopes": named}
    note(connection, context, "api_token.created", made.environment.name, str(made.id), details, at=now)
    return made


def _revoke_api_token(
    connection: Connection, context: WriteContext, environment: Environment, token_id: int
) -> ApiToken:
    """The revoked token; one that was revoked before keeps its time. Raises UnknownApiToken."""
    now = context.now(connection)
    changed = connection.execute(
        api_tokens.update()
        .where(
            api_tokens.c.environment_id == environment.id,
            api_tokens.c.id == token_id,
            api_tokens.c.revoked_at.is_(None),
        )
        .values(revoked_at=to_micros(now))
    )
    row = connection.execute(queries.API_TOKEN, {"environment_id": environment.id, "token_id": token_id}).first()
    if row is None:
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")
    token = rows.api_token(row)
    if changed.rowcount:
        details = {"label": token.label}
        note(connection, context, "api_token.revoked", token.environment.name, str(token_id), details, at=now)
    return token


def _create_data_source(
    connection: Connection,
    context: WriteContext,
    environment: Environment,
    *,
    source_id: str,
    provided_id: str,
    url: str,
    trusted: bool,
) -> RegisteredSource:
    """Raises AlreadyExists, UnknownEnvironment. The audit trail does not have the URL: it may hold a password."""
    now = context.now(connection)
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
    _note_source(connection, context, "data_source.created", source, now)
    return source


def _delete_data_source(
    connection: Connection, context: WriteContext, environment: Environment, reference: str
) -> RegisteredSource:
    """Raises UnknownDataSource."""
    source = _source(connection, environment, reference)
    gone = connection.execute(
        data_sources.delete().where(data_sources.c.environment_id == environment.id, data_sources.c.id == source.id)
    )
    if gone.rowcount:  # else another context was first
        _note_source(connection, context, "data_source.deleted", source, context.now(connection))
    return source


def _note_source(
    connection: Connection, context: WriteContext, action: str, source: RegisteredSource, now: datetime
) -> None:
    details = {"provided_id": source.provided_id}
    note(connection, context, action, source.environment.name, source.id, details, at=now)


def _source(connection: Connection, environment: Environment, reference: str) -> RegisteredSource:
    row = connection.execute(queries.SOURCE, {"environment_id": environment.id, "reference": reference}).first()
    if row is None:
        raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")
    return rows.data_source(row)


def _insert(connection: Connection, table: Table, values: dict[str, Any], environment: Environment) -> int | None:
    try:
        return insert_if_new(connection, table, values)
    except IntegrityError as error:  # the only other rule of these tables: the environment is there
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first") from error
