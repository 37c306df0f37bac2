from __future__ import annotations

from datetime import datetime, timedelta

from tenantry.backends.memory.tables import MemoryTables, StoredCode
from tenantry.errors import AlreadyExists, Unauthorized
from tenantry.groups import AuditNote
from tenantry.ports import CodeShare, CodeStore


class MemoryCodes(CodeStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def add(
        self,
        digest: bytes,
        *,
        purpose: str,
        payload: str,
        lifetime: float,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> None:
        tables = self._tables
        with tables.lock:
            now = tables.clock()
            ends = now + timedelta(seconds=lifetime)
            if api_token_id is not None:
                ends = self._end_of_issuer(api_token_id, now, ends)
            for each in [each for each, code in tables.codes.items() if code.expires_at <= now]:
                del tables.codes[each]
            if digest in tables.codes:
                raise AlreadyExists("this code already exists: generate another")
            group = None if share is None else share.owner
            if share is not None:
                codes = tables.codes.items()
                own = [each for each, code in codes if (code.purpose, code.group) == (purpose, group)]
                for each in own[: max(0, len(own) + 1 - share.most)]:
                    del tables.codes[each]
            tables.codes[digest] = StoredCode(purpose, payload, ends, api_token_id, group)
            if audited is not None:
                of = audited
                tables.note(of.author, of.action, of.environment, of.subject, **of.details)

    async def purpose(self, digest: bytes) -> str | None:
        with self._tables.lock:
            kept = self._live_code(digest)
            return None if kept is None else kept.purpose

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        with self._tables.lock:
            payload = self._read_code(digest, purpose)
            if payload is not None:
                del self._tables.codes[digest]
            return payload

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        with self._tables.lock:
            return self._read_code(digest, purpose)

    async def delete(self, group: bytes, *, purpose: str) -> int:
        tables = self._tables
        with tables.lock:
            own = [each for each, code in tables.codes.items() if (code.purpose, code.group) == (purpose, group)]
            live = [each for each in own if self._live_code(each) is not None]
            for each in live:
                del tables.codes[each]
            return len(live)

    def _read_code(self, digest: bytes, purpose: str) -> str | None:
        kept = self._live_code(digest)
        return None if kept is None or kept.purpose != purpose else kept.payload

    def _live_code(self, digest: bytes) -> StoredCode | None:
        kept = self._tables.codes.get(digest)
        return None if kept is None or kept.expires_at <= self._tables.clock() else kept

    def _end_of_issuer(self, api_token_id: int, now: datetime, ends: datetime) -> datetime:
        issuer = next((each for each in self._tables.api_tokens.values() if each.id == api_token_id), None)
        expires = None if issuer is None else issuer.expires_at
        if issuer is None or issuer.revoked_at is not None or (expires is not None and expires <= now):
            raise Unauthorized("the API token is revoked or expired: use another API token")
        return ends if expires is None else min(ends, expires)
