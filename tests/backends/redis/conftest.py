"""Fixtures of the second-level cache's tests: a store of record, and a worker that checks what it reads."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from engines.valkey import Valkey
from tenantry.aio import publish_queue
from tenantry.backends.redis import second_level as redis
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.cache import ChangeLog
from tenantry.groups import GroupDraft, Issued, Tag, Token, UserGroup
from tenantry.ports import LeasedBackend, Store
from tenantry.testing import MemoryStore, make_token


class Counted:
    """A backend that counts the reads that reach it."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.reads = 0

    @property
    def slots(self) -> Any:
        return self.store.slots

    async def find(self, token: Token) -> Any:
        return await self.store.find(token)

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> Any:
        self.reads += 1
        return await self.store.read_at_snapshot(token, fresh=fresh)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Any:
        return await self.store.changes(since, lease=lease)


class Worker:
    """Checks a backend's answers as a resolver does, and caches none: it polls, reads, and reads again if it must."""

    def __init__(self, backend: LeasedBackend) -> None:
        self._backend = backend
        self._change_log = ChangeLog()

    async def poll(self) -> None:
        asked = self._change_log.generation
        changes = await self._backend.changes(None if asked < 0 else asked)
        if not self._change_log.continues(changes):
            self._change_log.restart(changes)
        list(self._change_log.add(changes.changes))
        self._change_log.complete(changes)

    async def resolve(self, token: Token) -> UserGroup | None:
        await self.poll()
        reading = await self._backend.read_at_snapshot(token, fresh=False)
        changed = (
            None if reading.generation is None else self._change_log.changed_since(token.handle, reading.generation)
        )
        if changed is not False:
            reading = await self._backend.read_at_snapshot(token, fresh=True)
        return reading.group


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def origin(store: MemoryStore) -> Counted:
    return Counted(store)


PATIENCE = 60.0
"""Seconds; a budget that a busy machine keeps to."""


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers late is no server that is away: no look and no write is given up."""
    for name in ("_READ_SECONDS", "_WRITE_SECONDS"):
        monkeypatch.setattr(redis, name, PATIENCE)
    monkeypatch.setattr(publish_queue, "CLOSE_SECONDS", PATIENCE)


@pytest.fixture
async def backend(origin: Counted, valkey: Valkey, patient: None) -> AsyncIterator[RedisBackend]:
    """Before the store of record. It has polled once."""
    backend = RedisBackend(origin, valkey.url, budget=PATIENCE)
    await backend.changes(None)
    yield backend
    await backend.aclose()


async def create(store: Store, name: str = "acme", **fields: Any) -> Issued:
    environment = await store.environments.get("production") or await store.environments.create(
        "production", Tag.CUSTOMER
    )
    return await store.groups.get_or_create(environment, GroupDraft(name, name, **fields), make_token())


async def rotate(store: Store, issued: Issued, **options: Any) -> Issued:
    environment = issued.group.environment
    return await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16), **options)


async def until(is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    """Waits until it is so; fails after two minutes."""
    for _ in range(12_000):
        so = is_so()
        if so if isinstance(so, bool) else await so:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never became so")


async def written(backend: RedisBackend) -> None:
    """Waits until the server has taken all entries and tombstones."""
    await until(lambda: not len(backend._queue) and not backend._queue._tasks)
