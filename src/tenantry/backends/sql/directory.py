"""Environments, API tokens, data sources and the audit trail of an SQLStore.

Each write is a function on a Core connection, which the runner calls in a transaction of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, or_
from sqlalchemy.exc import IntegrityError

from tenantry.backends.audit.details import OfferedSourceLease, api_token_details, environment_details
from tenantry.backends.sql import queries, rows
from tenantry.backends.sql.change_log import HandleChanged, WriteContext, WriteResult, note, note_source_change
from tenantry.backends.sql.engine import insert_if_new, remaining
from tenantry.backends.sql.runner import Runner, Write
from tenantry.backends.sql.tables import api_tokens, data_sources, environments, single_use_codes
from tenantry.backends.stored import USE_INTERVAL, StoreClock
from tenantry.database import RUN_MIGRATE, check_source
from tenantry.errors import (
    AlreadyExists,
    MigrationNeeded,
    StoreUnavailable,
    UnknownApiToken,
    UnknownDataSource,
    UnknownEnvironment,
)
from tenantry.groups import (
    UNNAMED,
    ApiToken,
    AuditEntry,
    Author,
    ChainHead,
    Environment,
    RegisteredSource,
    RevokedApiToken,
    Scope,
    SourceReading,
    Tag,
    check_session_variables,
    source_handle,
    to_micros,
)
from tenantry.ports import ApiTokenStore, AuditTrail, EnvironmentStore, LeasedSources, SourceStore

T = TypeVar("T")
_ATTEMPTS = 3


class SQLDirectory(OfferedSourceLease, EnvironmentStore, ApiTokenStore, SourceStore, LeasedSources, AuditTrail):
    """What an SQLStore has besides its groups."""

    _runner: Runner
    _clock: StoreClock

    async def _write(self, work: Write[T], author: Author) -> T:
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

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
        def write(connection: Connection, context: WriteContext) -> Environment:
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

        return await self._write(write, author)

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        def write(connection: Connection, context: WriteContext) -> Environment:
            changed = connection.execute(
                environments.update()
                .where(environments.c.id == environment.id, environments.c.grace_seconds != grace_seconds)
                .values(grace_seconds=grace_seconds)
            )
            row = connection.execute(queries.ENVIRONMENT, {"name": environment.name}).first()
            if row is None or row[0] != environment.id:
                raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first")
            if changed.rowcount:
                details, at = {"grace_seconds": str(grace_seconds)}, context.now(connection)
                note(connection, context, "environment.grace_set", environment.name, environment.name, details, at=at)
            return rows.environment(row)

        return await self._write(write, author)

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
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        def write(connection: Connection, context: WriteContext) -> ApiToken:
            now, details = context.now(connection), api_token_details(label, scopes, expires_at)
            values = {
                "environment_id": environment.id,
                "digest": digest,
                "label": label,
                "scopes": details["scopes"],
                "hint": hint,
                "created_at": to_micros(now),
                "expires_at": None if expires_at is None else to_micros(expires_at),
            }
            number = _insert(connection, api_tokens, values, environment)
            if number is None:
                raise AlreadyExists("there is an API token with this secret already")
            this = {"environment_id": environment.id, "token_id": number}
            made = rows.api_token(connection.execute(queries.API_TOKEN, this).one())
            note(connection, context, "api_token.created", made.environment.name, str(made.id), details, at=now)
            return made

        return await self._write(write, author)

    async def api_token(self, digest: bytes) -> ApiToken | None:
        found = await self._runner.read(queries.LIVE_API_TOKEN, self._runner.deadline(), digest=digest)
        return rows.live_api_token(found[0], self._clock) if found else None

    async def record_api_token_use(self, token: ApiToken) -> None:
        def write(connection: Connection, context: WriteContext) -> None:
            now, used = context.now(connection), api_tokens.c.last_used_at
            unrecorded = or_(used.is_(None), used <= to_micros(now - USE_INTERVAL))
            connection.execute(
                api_tokens.update().where(api_tokens.c.id == token.id, unrecorded).values(last_used_at=to_micros(now))
            )

        await self._write(write, UNNAMED)

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        found = await self._runner.read(queries.API_TOKENS, self._runner.deadline(), environment_id=environment.id)
        return [rows.api_token(row) for row in found]

    async def revoke_api_token(
        self, environment: Environment, token_id: int, *, author: Author = UNNAMED
    ) -> RevokedApiToken:
        this = (api_tokens.c.environment_id == environment.id, api_tokens.c.id == token_id)

        def write(connection: Connection, context: WriteContext) -> RevokedApiToken:
            now = context.now(connection)
            changed = connection.execute(  # one that was revoked before keeps its time
                api_tokens.update().where(*this, api_tokens.c.revoked_at.is_(None)).values(revoked_at=to_micros(now))
            )
            values = {"environment_id": environment.id, "token_id": token_id}
            row = connection.execute(queries.API_TOKEN, values).first()
            if row is None:
                raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")
            token = rows.api_token(row)
            if changed.rowcount:
                details = {"label": token.label}
                note(connection, context, "api_token.revoked", token.environment.name, str(token_id), details, at=now)
            codes = single_use_codes.c
            issued = single_use_codes.delete().where(codes.api_token_id == token_id, codes.expires_at > to_micros(now))
            return RevokedApiToken(token, connection.execute(issued).rowcount)

        return await self._write(write, author)

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = await self._runner.read(
            queries.SOURCE, self._runner.deadline(), environment_id=environment.id, reference=reference
        )
        return rows.data_source(found[0]) if found else None

    async def source_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        runner = self._runner
        found = await runner.read(
            queries.SOURCE_AT_SNAPSHOT, runner.deadline(), environment_id=environment.id, reference=reference
        )
        if not found:
            raise MigrationNeeded(f"the store has lost its generation: {RUN_MIGRATE}")
        return rows.source_reading(found[0])

    async def create_data_source(
        self,
        environment: Environment,
        *,
        source_id: str,
        provided_id: str,
        url: str,
        trusted: bool = False,
        session: Mapping[str, str] | None = None,
        author: Author = UNNAMED,
    ) -> RegisteredSource:
        checked = check_session_variables(url, session or {})
        deadline = self._runner.deadline()
        await check_source(url, remaining(deadline) / 2)

        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource]:
            now = context.now(connection)
            values = {
                "environment_id": environment.id,
                "id": source_id,
                "provided_id": provided_id,
                "url": url,
                "trusted": trusted,
                "created_at": to_micros(now),
                "session": rows.write_session(checked),
            }
            if _insert(connection, data_sources, values, environment) is None:
                raise AlreadyExists(f"environment {environment.name!r} has a data source {provided_id!r} already")
            source = _source(connection, environment, source_id)
            return WriteResult(source, note_source_change(connection, context, "data_source.created", source, at=now))

        handles = source_handle(environment.id, source_id), source_handle(environment.id, provided_id)
        return await self._runner.write_to(handles, write, WriteContext(author, self._clock), deadline)

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = await self._runner.read(queries.SOURCES, self._runner.deadline(), environment_id=environment.id)
        return [rows.data_source(row) for row in found]

    async def set_source_url(
        self, source: RegisteredSource, url: str, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        environment = source.environment
        this = (data_sources.c.environment_id == environment.id, data_sources.c.id == source.id)

        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource | None]:
            statement = data_sources.update().where(*this, data_sources.c.url == source.url).values(url=url)
            if not connection.execute(statement).rowcount:  # another writer was first
                return WriteResult(None)
            written, at = _source(connection, environment, source.id), context.now(connection)
            return WriteResult(
                written, note_source_change(connection, context, "data_source.url_written", written, at=at)
            )

        deadline = self._runner.deadline()
        return await self._runner.write_to(source.handles, write, WriteContext(author, self._clock), deadline)

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource]:
            found = _source(connection, environment, reference)
            if found.handles != announced:
                raise HandleChanged
            this = (data_sources.c.environment_id == environment.id, data_sources.c.id == found.id)
            if not connection.execute(data_sources.delete().where(*this)).rowcount:  # another writer was first
                return WriteResult(found)
            at = context.now(connection)
            return WriteResult(found, note_source_change(connection, context, "data_source.deleted", found, at=at))

        deadline, announced = self._runner.deadline(), tuple[bytes, ...]()
        for _ in range(_ATTEMPTS):  # its ids are read first, because their slots are to change before the write
            source = await self.data_source(environment, reference)
            if source is None:
                raise _unknown_source(environment, reference)
            announced = source.handles
            with suppress(HandleChanged):
                return await self._runner.write_to(announced, write, WriteContext(author, self._clock), deadline)
        raise StoreUnavailable("others delete and create this data source without end: try again")

    # --- AuditTrail ---

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        runner = self._runner
        if environment is None:
            found = await runner.read(queries.AUDIT, runner.deadline(), after=after, limit=limit)
        else:
            query = queries.AUDIT_OF_ENVIRONMENT
            found = await runner.read(query, runner.deadline(), environment=environment, after=after, limit=limit)
        return [rows.audit_entry(row) for row in found]

    async def audit_head(self) -> ChainHead | None:
        found = await self._runner.read(queries.AUDIT_HEAD, self._runner.deadline())
        return rows.chain_head(found[0]) if found else None


def _source(connection: Connection, environment: Environment, reference: str) -> RegisteredSource:
    row = connection.execute(queries.SOURCE, {"environment_id": environment.id, "reference": reference}).first()
    if row is None:
        raise _unknown_source(environment, reference)
    return rows.data_source(row)


def _unknown_source(environment: Environment, reference: str) -> UnknownDataSource:
    return UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")


def _insert(connection: Connection, table: Table, values: dict[str, Any], environment: Environment) -> int | None:
    try:
        return insert_if_new(connection, table, values)
    except IntegrityError as error:  # the only other rule of these tables: the environment is there
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first") from error
