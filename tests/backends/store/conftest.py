"""Fixtures of the store tests: migrated databases on both engines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.pgbouncer import PgBouncer
from engines.postgres import Postgres


@pytest.fixture
def transaction_pooled_url(postgres: Postgres, postgres_url: str, transaction_pooler: PgBouncer) -> Iterator[str]:
    """A migrated PostgreSQL database, through a PgBouncer in transaction mode."""
    yield transaction_pooler.url(postgres_url)
    postgres.disconnect(postgres_url)


@pytest.fixture
def session_pooled_url(postgres: Postgres, postgres_url: str, session_pooler: PgBouncer) -> Iterator[str]:
    """A migrated PostgreSQL database, through a PgBouncer in session mode."""
    yield session_pooler.url(postgres_url)
    postgres.disconnect(postgres_url)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """A migrated database, once on each engine."""
    value: str = request.getfixturevalue(f"{request.param}_url")
    return value
