from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tenantry.cache import slot_index
from tenantry.groups import SOURCES_HANDLE, source_handle

if TYPE_CHECKING:
    from tenantry.cache import GroupCache
    from tenantry.groups import Environment, RegisteredSource
    from tenantry.ports import LeasedSources, MonotonicClock
    from tenantry.resolver.poller import Poller


class SourceCache:
    def __init__(self, cache: GroupCache, poller: Poller, clock: MonotonicClock, staleness: float) -> None:
        self.staleness: float = staleness
        self._cache = cache
        self._poller = poller
        self._clock = clock

    def peek_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        entry = self._cache.sources.entries.get((environment.id, reference))
        return entry.source if entry is not None and entry.is_valid(self._clock()) else None

    async def read_source(
        self, directory: LeasedSources, environment: Environment, reference: str
    ) -> RegisteredSource | None:
        self._poller.ensure_running(asyncio.get_running_loop())
        await self._poller.wait_first_poll()
        cache, slot = self._cache, slot_index(source_handle(environment.id, reference))
        pending = cache.begin(SOURCES_HANDLE, self._clock(), slot=slot)
        try:
            result = await directory.get_at_snapshot(environment, reference)
            if result.source is not None:
                key = environment.id, reference
                cache.store_source(pending, key, result.source, result.generation, self._clock())
        finally:
            cache.end(pending)
        return result.source
