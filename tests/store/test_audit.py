"""The audit trail in SQL cannot be altered by who may write to the tables."""

from __future__ import annotations

import sqlite3

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.groups import Tag
from tests.engines.postgres import Postgres

FORGERIES = (
    "update audit set author = 'somebody else'",
    "delete from audit",
    "delete from audit where number = 1",
)
INSTEAD = (
    "insert or replace into audit (number, at, author, action, environment, subject, details)"
    " values (1, 0, 'x', 'x', 'x', 'x', '{}')"
)


async def test_a_file_keeps_its_trail(sqlite_url: str) -> None:
    """SQLite refuses to update, delete or replace an entry, and says why. Red without the triggers."""
    store = SQLStore(sqlite_url)
    await store.create_environment("production", Tag.CUSTOMER)
    before = await store.audit()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    for forgery in (*FORGERIES, INSTEAD):
        with pytest.raises(sqlite3.IntegrityError, match="audit trail is append-only"):
            other.execute(forgery)
    other.close()
    assert await store.audit() == before
    await store.aclose()


async def test_a_server_keeps_its_trail(postgres_url: str, postgres: Postgres) -> None:
    """PostgreSQL refuses to update, delete or truncate. Red without the trigger."""
    store = SQLStore(postgres_url)
    await store.create_environment("production", Tag.CUSTOMER)
    before = await store.audit()
    for forgery in (*FORGERIES, "truncate audit"):
        with pytest.raises(AssertionError, match="audit trail is append-only"):
            postgres.execute(forgery, url=postgres_url)
    assert await store.audit() == before
    await store.aclose()
