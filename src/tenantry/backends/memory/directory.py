"""Environments, API tokens, data sources and the audit trail of a MemoryStore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tenantry.backends.journal import of_environment
from tenantry.backends.memory.tables import Tables
from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource
from tenantry.groups import UNNAMED, ApiToken, AuditEntry, Author, Environment, RegisteredSource, Scope, Tag


class MemoryDirectory:
    """An EnvironmentStore, ApiTokenStore, SourceStore and AuditTrail."""

    _tables: Tables

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
        tables = self._tables
        with tables.lock:
            if name in tables.environments:
                raise AlreadyExists(f"there is an environment {name!r} already")
            number = len(tables.environments) + 1
            environment = Environment(number, name, Tag(tag), external_data_sources, grace_seconds)
            tables.environments[name] = environment
            tables.note(author, "environment.created", name, name, **of_environment(environment))
            return environment

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        tables = self._tables
        with tables.lock:
            own = tables.own(environment)
            if own.grace_seconds == grace_seconds:
                return own
            changed = replace(own, grace_seconds=grace_seconds)
            tables.environments[own.name] = changed
            self._put_into_records(changed)
            tables.note(author, "environment.grace_set", own.name, own.name, grace_seconds=str(grace_seconds))
            return changed

    def _put_into_records(self, environment: Environment) -> None:
        """Each record holds its environment, as a row of a database points at one."""
        tables = self._tables
        for handle, stored in tables.handles.items():
            if stored.group.environment.id == environment.id:
                tables.handles[handle] = replace(stored, group=replace(stored.group, environment=environment))
        for digest, token in tables.api_tokens.items():
            if token.environment.id == environment.id:
                tables.api_tokens[digest] = replace(token, environment=environment)
        for key, source in tables.sources.items():
            if source.environment.id == environment.id:
                tables.sources[key] = replace(source, environment=environment)

    async def environment(self, name: str) -> Environment | None:
        return self._tables.environments.get(name)

    async def environments(self) -> Sequence[Environment]:
        return list(self._tables.environments.values())

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
        tables = self._tables
        with tables.lock:
            if digest in tables.api_tokens:
                raise AlreadyExists("there is an API token with this secret already")
            number = len(tables.api_tokens) + 1
            token = ApiToken(number, tables.own(environment), label, frozenset(scopes), hint, tables.clock())
            tables.api_tokens[digest] = token
            named = " ".join(sorted(Scope(scope).value for scope in scopes))
            tables.note(author, "api_token.created", environment.name, str(number), label=label, scopes=named)
            return token

    async def api_token(self, digest: bytes) -> ApiToken | None:
        token = self._tables.api_tokens.get(digest)
        return token if token is not None and token.revoked_at is None else None

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        return [token for token in list(self._tables.api_tokens.values()) if token.environment.id == environment.id]

    async def revoke_api_token(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> ApiToken:
        tables = self._tables
        with tables.lock:
            for digest, token in tables.api_tokens.items():
                if token.id != token_id or token.environment.id != environment.id:
                    continue
                if token.revoked_at is not None:
                    return token
                revoked = replace(token, revoked_at=tables.clock())
                tables.api_tokens[digest] = revoked
                tables.note(author, "api_token.revoked", environment.name, str(token_id), label=token.label)
                return revoked
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = self._tables.sources.get((environment.id, reference))
        return found or next((s for s in await self.data_sources(environment) if s.provided_id == reference), None)

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
        tables = self._tables
        with tables.lock:
            for source in list(tables.sources.values()):
                if source.environment.id == environment.id and (
                    source.id == source_id or source.provided_id == provided_id
                ):
                    raise AlreadyExists(f"environment {environment.name!r} has a data source {provided_id!r} already")
            source = RegisteredSource(source_id, provided_id, tables.own(environment), url, trusted)
            tables.sources[environment.id, source_id] = source
            tables.note(author, "data_source.created", environment.name, source_id, provided_id=provided_id)
            return source

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = [source for source in list(self._tables.sources.values()) if source.environment.id == environment.id]
        return sorted(found, key=lambda source: source.provided_id)

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        tables = self._tables
        with tables.lock:
            source = await self.data_source(environment, reference)
            if source is None:
                raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")
            del tables.sources[environment.id, source.id]
            provided = source.provided_id
            tables.note(author, "data_source.deleted", environment.name, source.id, provided_id=provided)
            return source

    # --- AuditTrail ---

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        with self._tables.lock:
            later = self._tables.trail[max(0, after) :]
        return [entry for entry in later if environment in (None, entry.environment)][:limit]
