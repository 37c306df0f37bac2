"""Environments, API tokens, data sources and the audit trail of an SQLStore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from tenantry.backends.sql import queries, rows, write_directory
from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.runner import Runner
from tenantry.backends.sql.time_of_day import TimeOfDay
from tenantry.backends.sql.write_journal import Writer
from tenantry.database.own_tables import check_source
from tenantry.groups import UNNAMED, ApiToken, AuditEntry, Author, Environment, RegisteredSource, Scope, Tag


class SQLDirectory:
    """An EnvironmentStore, ApiTokenStore, SourceStore and AuditTrail (tenantry.ports)."""

    _runner: Runner
    _time: TimeOfDay

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
            write_directory.create_environment,
            name=name,
            tag=tag,
            external_data_sources=external_data_sources,
            grace_seconds=grace_seconds,
        )
        return await self._runner.write(work, Writer(author, self._time), self._runner.deadline())

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        work = partial(write_directory.set_grace, environment=environment, grace_seconds=grace_seconds)
        return await self._runner.write(work, Writer(author, self._time), self._runner.deadline())

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
            write_directory.create_api_token,
            environment=environment,
            digest=digest,
            label=label,
            scopes=scopes,
            hint=hint,
        )
        return await self._runner.write(work, Writer(author, self._time), self._runner.deadline())

    async def api_token(self, digest: bytes) -> ApiToken | None:
        found = await self._runner.read(queries.LIVE_API_TOKEN, self._runner.deadline(), digest=digest)
        return rows.api_token(found[0]) if found else None

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        found = await self._runner.read(queries.API_TOKENS, self._runner.deadline(), environment_id=environment.id)
        return [rows.api_token(row) for row in found]

    async def revoke_api_token(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> ApiToken:
        work = partial(write_directory.revoke_api_token, environment=environment, token_id=token_id)
        return await self._runner.write(work, Writer(author, self._time), self._runner.deadline())

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
            write_directory.create_data_source,
            environment=environment,
            source_id=source_id,
            provided_id=provided_id,
            url=url,
            trusted=trusted,
        )
        return await self._runner.write(work, Writer(author, self._time), deadline)

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = await self._runner.read(queries.SOURCES, self._runner.deadline(), environment_id=environment.id)
        return [rows.data_source(row) for row in found]

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        work = partial(write_directory.delete_data_source, environment=environment, reference=reference)
        return await self._runner.write(work, Writer(author, self._time), self._runner.deadline())

    # --- AuditTrail ---

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        runner = self._runner
        if environment is None:
            found = await runner.read(queries.AUDIT, runner.deadline(), after=after, limit=limit)
        else:
            query = queries.AUDIT_OF_ENVIRONMENT
            found = await runner.read(query, runner.deadline(), environment=environment, after=after, limit=limit)
        return [rows.audit_entry(row) for row in found]
