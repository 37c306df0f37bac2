"""The contract of a Backend, read through IntrospectionBackend from a real server on SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tenantry.backends.introspection import IntrospectionBackend
from tenantry.backends.sql import SQLStore
from tenantry.groups import Scope, Tag, Token, UserGroup
from tenantry.ports import Store
from tenantry.testing import BackendContract, FrozenClock
from tests.backends.introspection.conftest import listening
from tests.provisioning.http.conftest import make_app, make_caller, make_keys

KEYS = make_keys("k1", "k2")
SECONDS = 20.0


class OfEachTag:
    """An API token introspects one environment, and the contract has one for each tag: a backend for each."""

    def __init__(self, store: Store, url: str, clock: FrozenClock) -> None:
        self._store = store
        self._url = url
        self._clock = clock
        self._backends: dict[str, IntrospectionBackend] = {}

    async def find(self, token: Token) -> UserGroup | None:
        testing = token.tag is Tag.TESTING and await self._store.environments.get("testing") is not None
        return await (await self._backend("testing" if testing else "production")).find(token)

    async def _backend(self, name: str) -> IntrospectionBackend:
        if name not in self._backends:
            environment = await self._store.environments.get(name)
            assert environment is not None
            secret = await make_caller(self._store, environment, Scope.INTROSPECT)  # type: ignore[arg-type]
            self._backends[name] = IntrospectionBackend(
                self._url, api_token=secret, keys=KEYS, timeout=SECONDS, clock=self._clock
            )
        return self._backends[name]

    async def aclose(self) -> None:
        for backend in self._backends.values():
            await backend.aclose()


class TestIntrospectionBackend(BackendContract):
    """Every question goes over a socket to uvicorn, and from there to the store.

    Red when the endpoint leaves out a field, or has an earlier token active or after the grace."""

    @pytest.fixture
    async def store(self, sqlite_url: str, clock: FrozenClock) -> AsyncIterator[SQLStore]:
        store = SQLStore(sqlite_url, deadline=SECONDS, clock=clock)
        yield store
        await store.aclose()

    @pytest.fixture
    async def backend(self, store: Store, clock: FrozenClock) -> AsyncIterator[OfEachTag]:
        async with listening(make_app(store, KEYS, store_seconds=SECONDS)) as url:
            backend = OfEachTag(store, url, clock)
            yield backend
            await backend.aclose()
