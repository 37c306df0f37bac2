from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from tenantry.backends.audit.details import api_token_details
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.stored import require_unexpired, use_is_recorded
from tenantry.errors import AlreadyExists, UnknownApiToken
from tenantry.groups import UNNAMED, ApiToken, Author, Caller, Environment, RevokedApiToken, Scope
from tenantry.ports import ApiTokenStore


class MemoryApiTokens(ApiTokenStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def create(
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
        tables = self._tables
        with tables.lock:
            if digest in tables.api_tokens:
                raise AlreadyExists("an API token with this secret already exists: create another")
            number = len(tables.api_tokens) + 1
            own, now = tables.own(environment), tables.clock()
            token = ApiToken(number, own, label, frozenset(scopes), hint, now, expires_at=expires_at)
            tables.api_tokens[digest] = token
            details = api_token_details(label, scopes, expires_at)
            tables.note(author, "api_token.created", environment.name, str(number), **details)
            return token

    async def get(self, digest: bytes) -> ApiToken | None:
        token = self._tables.api_tokens.get(digest)
        if token is None or token.revoked_at is not None:
            return None
        return require_unexpired(token, self._tables.clock())

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        with self._tables.lock:
            token = await self.get(digest)
            return None if token is None else Caller(token, self._tables.issued(token.environment, provided_id))

    async def record_use(self, token: ApiToken) -> None:
        tables = self._tables
        with tables.lock:
            now = tables.clock()
            for digest, stored in tables.api_tokens.items():
                if stored.id == token.id and not use_is_recorded(stored, now):
                    tables.api_tokens[digest] = replace(stored, last_used_at=now)

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        return [token for token in [*self._tables.api_tokens.values()] if token.environment.id == environment.id]

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        tables = self._tables
        with tables.lock:
            for digest, token in tables.api_tokens.items():
                if token.id != token_id or token.environment.id != environment.id:
                    continue
                if token.revoked_at is not None:
                    return RevokedApiToken(token, 0)
                revoked = replace(token, revoked_at=tables.clock())
                tables.api_tokens[digest] = revoked
                tables.note(author, "api_token.revoked", environment.name, str(token_id), label=token.label)
                issued = [each for each, code in tables.codes.items() if code.api_token_id == token_id]
                ended = [code for code in map(tables.codes.pop, issued) if code.expires_at > tables.clock()]
                return RevokedApiToken(revoked, len(ended))
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")
