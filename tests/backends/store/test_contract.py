"""The public contract of a Store, over every store that Tenantry has.

Red when one of these is taken out (each was tried by hand): UNIQUE(environment_id, provided_id), the version check of
``rotated``, the tag, nonce or key id in ``_same``, the claim of an Idempotency-Key, ``none_as_null``, the end of grace.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engines.migrated import another_store
from engines.pgbouncer import PgBouncer
from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.testing import FrozenClock, MemoryStore, StoreContract


@pytest.fixture(scope="module")
def one_postgres_url(postgres: Postgres, migrated_postgres: str) -> str:
    """One database for four hundred tests, which use nothing of it but the store's methods."""
    url = postgres.create_database(migrated_postgres)
    postgres.remember_rows(url)
    return url


@pytest.fixture
def postgres_url(postgres: Postgres, one_postgres_url: str) -> str:
    """A database as it is after its migration, of a store of its own."""
    postgres.restore_rows(one_postgres_url, another_store())
    return one_postgres_url


@pytest.fixture
def transaction_pooled_url(postgres_url: str, transaction_pooler: PgBouncer) -> str:
    """The same, through a PgBouncer in transaction mode."""
    return transaction_pooler.url(postgres_url)


class TestMemoryStore(StoreContract):
    """MemoryStore."""

    @pytest.fixture
    def store(self, clock: FrozenClock) -> MemoryStore:
        return MemoryStore(clock=clock)


class TestSQLiteStore(StoreContract):
    """SQLStore in an SQLite file."""

    @pytest.fixture
    async def store(self, sqlite_url: str, clock: FrozenClock) -> AsyncIterator[SQLStore]:
        store = SQLStore(sqlite_url, deadline=20, clock=clock)
        yield store
        await store.aclose()


class TestPostgresStore(StoreContract):
    """SQLStore in a real PostgreSQL."""

    @pytest.fixture
    async def store(self, postgres_url: str, clock: FrozenClock) -> AsyncIterator[SQLStore]:
        store = SQLStore(postgres_url, deadline=20, clock=clock)
        yield store
        await store.aclose()


@pytest.mark.slow
class TestTransactionPooledStore(StoreContract):
    """SQLStore through a PgBouncer that gives each transaction another server process. In session mode the store does
    the same (test_poolers.py): it asks only whether its connection is direct."""

    @pytest.fixture
    async def store(self, transaction_pooled_url: str, clock: FrozenClock) -> AsyncIterator[SQLStore]:
        store = SQLStore(transaction_pooled_url, deadline=20, clock=clock)
        yield store
        await store.aclose()
