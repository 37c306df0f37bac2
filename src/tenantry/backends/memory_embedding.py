"""Single-use codes and the embedding hosts of environments, in a MemoryStore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from tenantry.backends.audit import hosts_details
from tenantry.backends.memory_directory import MemoryTables
from tenantry.errors import AlreadyExists
from tenantry.groups import UNNAMED, Author, Environment
from tenantry.ports import CodeStore, EmbeddingStore


class MemoryEmbedding(EmbeddingStore, CodeStore):
    """What a MemoryStore keeps for dashboards in other pages."""

    _tables: MemoryTables

    # --- CodeStore ---

    async def add_code(self, digest: bytes, *, purpose: str, payload: str, lifetime: float) -> None:
        tables = self._tables
        with tables.lock:
            now = tables.clock()
            for each in [each for each, (_, _, expires) in tables.codes.items() if expires <= now]:
                del tables.codes[each]
            if digest in tables.codes:
                raise AlreadyExists("there is such a code already: draw a new one")
            tables.codes[digest] = (purpose, payload, now + timedelta(seconds=lifetime))

    async def redeem_code(self, digest: bytes, *, purpose: str) -> str | None:
        tables = self._tables
        with tables.lock:
            kept = tables.codes.get(digest)
            if kept is None or kept[0] != purpose or kept[2] <= tables.clock():
                return None
            del tables.codes[digest]
            return kept[1]

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
