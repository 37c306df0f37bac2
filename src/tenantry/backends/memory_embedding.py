"""Single-use codes and the embedding hosts of environments, in a MemoryStore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tenantry.backends.audit import hosts_details
from tenantry.backends.memory_directory import MemoryTables
from tenantry.errors import AlreadyExists
from tenantry.groups import UNNAMED, AuditNote, Author, Environment
from tenantry.ports import CodeShare, CodeStore, EmbeddingStore


class MemoryEmbedding(EmbeddingStore, CodeStore):
    """What a MemoryStore keeps for dashboards in other pages."""

    _tables: MemoryTables

    # --- CodeStore ---

    async def add_code(
        self,
        digest: bytes,
        *,
        purpose: str,
        payload: str,
        lifetime: float,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> None:
        tables = self._tables
        with tables.lock:
            now = tables.clock()
            for each in [each for each, (_, _, expires, _) in tables.codes.items() if expires <= now]:
                del tables.codes[each]
            if digest in tables.codes:
                raise AlreadyExists("there is such a code already: draw a new one")
            group = None if share is None else share.group
            if share is not None:
                own = [each for each, kept in tables.codes.items() if (kept[0], kept[3]) == (purpose, group)]
                for each in own[: max(0, len(own) + 1 - share.most)]:
                    del tables.codes[each]
            tables.codes[digest] = (purpose, payload, now + timedelta(seconds=lifetime), group)
            if audited is not None:
                of = audited
                tables.note(of.author, of.action, of.environment, of.subject, **of.details)

    async def code_purpose(self, digest: bytes) -> str | None:
        with self._tables.lock:
            kept = self._live_code(digest)
            return None if kept is None else kept[0]

    async def redeem_code(self, digest: bytes, *, purpose: str) -> str | None:
        with self._tables.lock:
            payload = self._read_code(digest, purpose)
            if payload is not None:
                del self._tables.codes[digest]
            return payload

    async def read_code(self, digest: bytes, *, purpose: str) -> str | None:
        with self._tables.lock:
            return self._read_code(digest, purpose)

    def _read_code(self, digest: bytes, purpose: str) -> str | None:
        kept = self._live_code(digest)
        return None if kept is None or kept[0] != purpose else kept[1]

    def _live_code(self, digest: bytes) -> tuple[str, str, datetime, bytes | None] | None:
        kept = self._tables.codes.get(digest)
        return None if kept is None or kept[2] <= self._tables.clock() else kept

    # --- EmbeddingStore ---

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        tables = self._tables
        with tables.lock:
            own = tables.own(environment)
            tables.embedding_hosts[own.name] = tuple(hosts)
            tables.note(author, "environment.embedding_set", own.name, own.name, **hosts_details(hosts))
            return tuple(hosts)

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        with self._tables.lock:
            return {name: hosts for name, hosts in self._tables.embedding_hosts.items() if hosts}
