"""A source with orders of two groups, and a query whose author forgot the tenant."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

FORGETFUL: Final = "select id, owner from orders"
DECLARATION: Final[dict[str, Any]] = {"tables": {"orders": "owner"}}
TABLES: Final = json.dumps(DECLARATION)
STATEMENTS: Final = (
    "create table orders (id integer, owner varchar(20), region varchar(20))",
    "insert into orders values (1, 'acme', 'eu'), (2, 'acme', 'us'), (3, 'globex', 'eu'), (4, 'ACME', 'eu')",
)
ACME: Final = {(1, "acme"), (2, "acme")}
GLOBEX: Final = {(3, "globex")}


def shop(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in STATEMENTS:
            connection.execute(statement)
    return f"sqlite:///{path}"


def owned(rows: Any) -> set[tuple[int, str]]:
    """The rows, which a driver gives as dicts."""
    return {(row["id"], row["owner"]) for row in rows}
