"""Migrated databases on both engines, copies of one that was migrated once: alembic takes longer than most tests."""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engines.postgres import Postgres
from tenantry.database.migrations import migrate


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "store.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> str:
    """A migrated PostgreSQL database, to be copied."""
    url = postgres.create_database()
    migrate(url)
    return url


@pytest.fixture
def sqlite_url(tmp_path: Path, migrated_sqlite: Path) -> str:
    """A migrated SQLite file, of a store of its own."""
    path = tmp_path / "store.db"
    shutil.copyfile(migrated_sqlite, path)
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "update generation set store_id = ?, run_name = ?", (secrets.token_hex(16), secrets.token_hex(8))
        )
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres: Postgres, migrated_postgres: str) -> str:
    """A migrated PostgreSQL database, of a store of its own."""
    url = postgres.create_database(migrated_postgres)
    postgres.execute(another_store(), url=url)
    return url


def another_store() -> str:
    """SQL that makes of a copied database another store: no process takes the slots of one for those of the other."""
    store_id, run_name = secrets.token_hex(16), secrets.token_hex(8)
    return f"update generation set store_id = '{store_id}', run_name = '{run_name}'"
