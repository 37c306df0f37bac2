"""The read contract over RedisBackend: on a real Valkey and, beside it, on fakeredis."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import fakeredis
import pytest

from engines.ports import free_port
from engines.valkey import Valkey
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.backends.sql import SQLStore
from tenantry.testing import FrozenClock, LeaseContract
from tests.backends.redis.conftest import PATIENCE


class TestRedisBackendBeforeSQLite(LeaseContract):
    """A real Valkey before an SQLite file."""

    @pytest.fixture
    async def store(self, sqlite_url: str, clock: FrozenClock) -> AsyncIterator[SQLStore]:
        store = SQLStore(sqlite_url, deadline=20, clock=clock)
        yield store
        await store.aclose()

    @pytest.fixture
    def server_url(self, valkey: Valkey) -> str:
        return valkey.url

    @pytest.fixture
    async def backend(self, store: SQLStore, server_url: str, patient: None) -> AsyncIterator[RedisBackend]:
        backend = RedisBackend(store, server_url, budget=PATIENCE)
        store.subscribe(backend)
        await backend.changes(None)
        yield backend
        await backend.aclose()


class TestRedisBackendOnFakeRedis(TestRedisBackendBeforeSQLite):
    """The same on fakeredis, which has no Lua here: nothing can be written, so everything falls through."""

    @pytest.fixture
    def server_url(self) -> Iterator[str]:
        port = free_port()
        server = fakeredis.TcpFakeServer(("127.0.0.1", port), server_type="valkey")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"redis://127.0.0.1:{port}"
        server.shutdown()
        server.server_close()
        thread.join(120)
