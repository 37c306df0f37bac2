"""What SQLite and DuckDB take for equal next to a value of the group, as the pages of these engines say. MySQL
and MariaDB are in test_mysql_coercion.py.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tenantry.errors import QueryFailed
from tests.datasources.conftest import Directory, group

NAMES = ("acme", "ACME", "acmé", "acme ", "7", "7abc", "07", "0", "")
NUMBERS = (0, 1, 7, 8)
REFUSED = "refused"


@pytest.fixture(params=("sqlite", "duckdb"))
def engine(request: pytest.FixtureRequest, tmp_path: Path, directory: Directory) -> str:
    name: str = request.param
    path = tmp_path / "tenants.db"
    with closing(sqlite3.connect(path) if name == "sqlite" else duckdb.connect(str(path))) as connection:
        connection.execute("create table names (c varchar(20))")
        connection.execute("create table digits (c varchar(20))")
        connection.execute("create table numbers (c integer)")
        connection.executemany("insert into names values (?)", [(each,) for each in NAMES])
        connection.executemany("insert into digits values (?)", [(each,) for each in ("7", "07", "0")])
        connection.executemany("insert into numbers values (?)", [(each,) for each in NUMBERS])
        if name == "sqlite":
            connection.execute("create table untyped (c)")
            connection.executemany("insert into untyped values (?)", [(7,), ("7",)])
            connection.commit()  # type: ignore[union-attr]
    directory.add(1, f"{name}:///{path}")
    return name


@pytest.mark.parametrize(
    ("table", "value", "sqlite", "on_duckdb"),
    [
        ("names", "acme", ["acme"], ["acme"]),
        ("names", "7", ["7"], ["7"]),
        ("names", "", [""], [""]),
        ("names", 0, ["0"], REFUSED),
        ("names", False, ["0"], REFUSED),
        ("names", 7, ["7"], REFUSED),
        ("names", 7.0, [], REFUSED),
        ("digits", 7, ["7"], ["7", "07"]),
        ("digits", "7", ["7"], ["7"]),
        ("numbers", 7, [7], [7]),
        ("numbers", "7", [7], [7]),
        ("numbers", "07", [7], [7]),
        ("numbers", " 7", [7], [7]),
        ("numbers", "7.0", [7], [7]),
        ("numbers", "7.4", [], [7]),
        ("numbers", "7abc", [], REFUSED),
        ("numbers", "acme", [], REFUSED),
        ("numbers", "", [], REFUSED),
        ("numbers", False, [0], [0]),
        ("numbers", True, [1], [1]),
        ("untyped", 7, [7], None),
        ("untyped", "7", ["7"], None),
    ],
)
async def test_what_is_equal(
    engine: str, table: str, value: Any, sqlite: Any, on_duckdb: Any, open_sources: Any
) -> None:
    """By ``=`` and by ``in``. These are facts of the engines: there is nothing to break."""
    expected = sqlite if engine == "sqlite" else on_duckdb
    if expected is None:
        return
    sources = open_sources(timeout=60)
    for condition in ("c = {{ v }}", "{{ v }} = c", "c in {{ vs }}"):
        asked = sources.fetch(
            group(main="ds_1"), "main", f"select c from {table} where {condition}", {"v": value, "vs": [value]}
        )
        if expected == REFUSED:
            with pytest.raises(QueryFailed):
                await asked
        else:
            assert [row["c"] for row in await asked] == expected
