"""A host of a fleet, as data sources see it: its own slots, a resolver, and DataSources that share its lease."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenantry import DataSources, Resolver
from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.sources import SQLSources
from tenantry.clock import monotonic_with_suspend
from tenantry.groups import Environment, SourceDraft, SourceLookupResult, Tag, UserGroup
from tenantry.ports import Bus
from tenantry.tokens import KeyRing, SigningKey
from tests.datasources.conftest import group, sqlite_file

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
OWNERS = "select distinct owner from orders"
NO_POLL = 600.0
"""A staleness bound (seconds) within which no second poll comes."""


class CountingSources(SQLSources):
    """Counts how often a registration is read."""

    reads = 0

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        self.reads += 1
        return await super().get_at_snapshot(environment, reference)


class CountingStore(SQLStore):
    """``sources`` count what is read of them."""

    part: type[CountingSources] = CountingSources

    def __init__(self, url: str, *, run_dir: Path) -> None:
        super().__init__(url, run_dir=run_dir)
        self.sources: CountingSources = self.part(self._runner, self._clock)


@dataclass
class Host:
    """``store`` has the slots of this host; ``sources`` share the lease of ``resolver``."""

    store: CountingStore
    resolver: Resolver
    sources: DataSources
    asking: UserGroup

    async def owners(self) -> list[str]:
        """What a query of the one mapped source gives."""
        return [row["owner"] for row in await self.sources.fetch(self.asking, "main", OWNERS, {})]


@asynccontextmanager
async def host(
    url: str,
    run_dir: Path,
    *,
    staleness: float = NO_POLL,
    buses: Sequence[Bus] = (),
    store: type[CountingStore] = CountingStore,
    clock: Any = monotonic_with_suspend,
) -> AsyncIterator[Host]:
    """A host whose processes share ``run_dir``. Its groups map ``main`` to ``warehouse``."""
    opened = store(url, run_dir=run_dir)
    resolver = Resolver(opened, keys=KEYS, staleness=staleness, buses=buses, clock=clock)
    environment = await opened.environments.get("production")
    assert environment is not None
    async with DataSources(opened) as sources:
        # A query that takes long on a busy machine would be read again, and end: here only what is cached is tested.
        sources.query_watch._clock = lambda: 0.0
        yield Host(opened, resolver, sources, group(environment=environment, main="warehouse"))
    await resolver.aclose()
    await opened.aclose()


async def register(url: str, run_dir: Path, path: Path) -> SQLStore:
    """A store on a host with a data source ``warehouse`` (``ds_1``) in the environment ``production``."""
    store = SQLStore(url, run_dir=run_dir)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    await store.sources.create(environment, "ds_1", SourceDraft("warehouse", sqlite_file(path, "acme")))
    await store.changes(None, lease=NO_POLL)  # a lease was given before: no write has to wait for a new table
    return store


async def remove(store: SQLStore) -> None:
    """Deletes the source. Returns when the write does."""
    environment = await store.environments.get("production")
    assert environment is not None
    await store.sources.delete(environment, "warehouse")
