"""A second-level cache in Redis or Valkey, shared by many hosts. Entries may be stale: the resolver uses an entry only
if the group has not changed since the entry's generation."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenantry.aio import Breaker, LoopLocal, Message, PublishQueue
from tenantry.backends.batching import NoAnswer, TickBatcher
from tenantry.backends.redis.entry import RedisCommands, RefusedEntry, key_of, read_entry, stamp, write_entry
from tenantry.database import RedisClient, RedisServer, ask_server, load_redis, read_redis_address
from tenantry.errors import InvalidSettings
from tenantry.ports import source_cache_holder_of
from tenantry.usage import recorder_of

if TYPE_CHECKING:
    from tenantry.groups import Changes, LookupResult, Token, UserGroup
    from tenantry.ports import LeasedBackend, MonotonicClock, Slots, SourceCacheHolder
    from tenantry.usage import UsageRecorder

logger: logging.Logger = logging.getLogger(__name__)

_WRITE_SECONDS = 3.0
READ_BATCH = 128
_READS = 2
_READ_SECONDS = 3.0


@dataclass(slots=True)
class RedisCounters:
    hits: int = 0
    """Reads that the second-level cache answered."""
    misses: int = 0
    """Reads without a usable entry for the token."""
    refused: int = 0
    """Values that are not an entry of this store and handle."""
    errors: int = 0
    """Reads that failed or took longer than the budget."""
    skipped: int = 0
    """Reads that skipped Redis, because the server had recently failed to answer."""
    writes: int = 0
    """Writes of entries and tombstones, including writes that Redis ignored because it had a newer entry."""
    lost_writes: int = 0
    """Failed attempts to write an entry or tombstone. Each retry counts."""


class RedisBackend:
    """Reads groups from a cache in Redis, otherwise from the backend ``origin``. If this process writes to the store,
    pass this backend to ``store.subscribe``, so that a write invalidates its group in Redis.

    - ``url``: see database/redis_server.py.
    - ``budget``: maximum seconds to wait for Redis before reading from the origin.
    - ``lifetime``: seconds until a key in Redis expires.

    The backend writes to Redis in the background, and does no I/O before its first use. Raises InvalidSettings."""

    def __init__(
        self,
        origin: LeasedBackend,
        url: str,
        *,
        budget: float = 0.05,
        lifetime: float = 3600,
        clock: MonotonicClock = time.monotonic,
    ) -> None:
        if budget <= 0 or lifetime <= 0:
            raise InvalidSettings("budget and lifetime must be numbers of seconds greater than 0")
        load_redis()  # to report a missing package now
        self.counters: RedisCounters = RedisCounters()
        self._origin = origin
        self._server = read_redis_address(url)
        self._breaker = Breaker(clock=clock, chance=random.random)
        self._connections = LoopLocal(
            lambda: _RedisConnections(self._server, lifetime, budget, self._batch_ended), _RedisConnections.aclose
        )
        self._queue = PublishQueue(self._write)
        self._store_id: str | None = None
        self._generation = -1

    def __repr__(self) -> str:
        return f"<RedisBackend: {self._server.label} before {type(self._origin).__name__}>"

    @property
    def slots(self) -> Slots | None:
        return self._origin.slots

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        changes = await self._origin.changes(since, lease=lease)
        self._store_id, self._generation = changes.store_id, changes.generation
        return changes

    async def find(self, token: Token) -> UserGroup | None:
        """Read from the origin, not from Redis."""
        # Callers of ``find`` do not check generations.
        return await self._origin.find(token)

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        store_id = self._store_id
        if store_id is None:  # before the first ``changes`` no caller can check a generation
            return await self._origin.read_at_snapshot(token, fresh=fresh)
        result = None if fresh else await self._cached(store_id, token)
        if result is None:
            result = await self._origin.read_at_snapshot(token, fresh=fresh)
            self._store(store_id, token, result)
        return result

    @property
    def sources(self) -> SourceCacheHolder | None:
        """The origin's data sources, which Redis does not cache."""
        return source_cache_holder_of(self._origin)

    @property
    def usage_recorder(self) -> UsageRecorder | None:
        """The origin's usage recorder."""
        return recorder_of(self._origin)

    def changed(self, handle: bytes, generation: int) -> None:
        """Write a tombstone for the group to Redis in the background, unless the entry there is at least as new."""
        self._queue.put(Message(handle, generation))

    async def aclose(self) -> None:
        """Write pending entries for at most a second, then close this event loop's connections. The origin stays
        open."""
        await self._queue.aclose()
        await self._connections.aclose()

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _cached(self, store_id: str, token: Token) -> LookupResult | None:
        if not self._breaker.allows():
            self.counters.skipped += 1
            return None
        connections = self._connections.get()
        try:
            value = await connections.batcher.ask(key_of(store_id, token.handle))
            result = None if value is None else read_entry(value, store_id, token)
        except NoAnswer:
            self.counters.errors += 1
            return None
        except RefusedEntry as error:
            if not self.counters.refused:  # log only the first: there may be many
                logger.warning("%s: %s", self._server.label, error)
            self.counters.refused += 1
            return None
        if result is None or (result.generation or 0) > self._generation:
            # The entry's generation is later than the last poll's: the entry is very new, or the store has been
            # restored from a backup.
            self.counters.misses += 1
            return None
        self.counters.hits += 1
        return result

    def _batch_ended(self, good: bool) -> None:
        if good:
            if self._breaker.succeeded():
                logger.warning("%s answers again", self._server.label)
        elif self._breaker.failed():
            logger.warning("%s does not answer: the store is asked instead", self._server.label)

    # --- writing ------------------------------------------------------------------------------------------------------

    def _store(self, store_id: str, token: Token, result: LookupResult) -> None:
        group, generation = result.group, result.generation
        if group is None or generation is None or result.seconds is not None or self._breaker.is_open:
            return
        if group.token_version == token.version and group.handle == token.handle:
            self._queue.put(Message(token.handle, generation, write_entry(store_id, token, group)))

    async def _write(self, messages: Sequence[Message]) -> None:
        try:
            refused = await ask_server(self._write_now(messages), seconds=_WRITE_SECONDS)
        except ConnectionError:
            self.counters.lost_writes += len(messages)
            raise
        self.counters.writes += len(messages) - refused
        self.counters.lost_writes += refused

    async def _write_now(self, messages: Sequence[Message]) -> int:
        if self._store_id is None:  # this writer never polled
            await self.changes(messages[0].generation)
        store_id = self._store_id or ""
        connections = self._connections.get()
        return await connections.commands.write(
            [(key_of(store_id, each.handle), stamp(each.generation), each) for each in messages]
        )


class _RedisConnections:
    def __init__(self, server: RedisServer, lifetime: float, budget: float, ended: Callable[[bool], None]) -> None:
        self._client = RedisClient(server)
        self.commands = RedisCommands(self._client, lifetime)
        self.batcher = read_batcher(self.commands.read, budget, ended)

    async def aclose(self) -> None:
        await self.batcher.aclose()
        await self._client.aclose()


def read_batcher(
    read: Callable[[Sequence[str]], Awaitable[Sequence[bytes | None]]], budget: float, ended: Callable[[bool], None]
) -> TickBatcher[str, bytes | None]:
    """Return a batcher that runs at most two commands at once."""

    async def fetch(keys: list[str], _: float) -> dict[str, bytes | None]:
        try:
            # May take longer than ``budget``, so that a slow handshake can finish.
            values = await ask_server(read(keys), seconds=_READ_SECONDS)
        except ConnectionError as error:
            raise NoAnswer from error
        return dict(zip(keys, values, strict=True))

    return TickBatcher(fetch, size=READ_BATCH, concurrent=_READS, budget=budget, ended=ended)
