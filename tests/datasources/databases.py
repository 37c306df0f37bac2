"""A database with tables, on the engine of a test's parameter."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres


def create_database(
    engine: str, statements: Sequence[str], folder: Path, request: pytest.FixtureRequest, *, scheme: str = "mysql"
) -> str:
    """Run the statements in a new database and return its URL. ``scheme``: of a MariaDB URL."""
    if engine == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create_database()
        postgres.execute(";".join(statements), url=url)
        return url
    if engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        database = mariadb.create_database()
        for sql in statements:
            mariadb.execute(sql, database=database)
        return f"{scheme}://root@127.0.0.1:{mariadb.port}/{database}"
    path = folder / f"{engine}.db"
    with closing(sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(str(path))) as connection:
        for sql in statements:
            connection.execute(sql)
        connection.commit()
    return f"{engine}:///{path}"
