"""SQLite: what its authorizer is asked, and the root pages that the compiled program opens."""

from __future__ import annotations

import sqlite3
from typing import Any

from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.databases import Engine, SQLiteDatabase
from tests.sql.guarding.second_readers import Unreadable


class Reader:
    """If no column is read, the authorizer cannot tell a table from a CTE, but the program can.

    A CTE that nothing reads is in neither.
    """

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine.everyone, SQLiteDatabase)
        self._connection = engine.everyone.connection
        pages = self._connection.execute("select rootpage, name from sqlite_master where type = 'table'").fetchall()
        self._pages: dict[int, str] = {1: "sqlite_master", **dict(pages)}
        self._names = set(self._pages.values())

    def tables(self, bound: BoundSQL) -> set[str]:
        found: set[str] = set()

        def authorize(action: int, table: str | None, column: str | None, *_: Any) -> int:
            if action == sqlite3.SQLITE_READ and column and table in self._names:
                found.add(table.lower())
            return sqlite3.SQLITE_OK

        self._connection.set_authorizer(authorize)
        try:
            sql = bound.sql.lstrip("; \t\r\n\f")  # `explain ;` is an error, but SQLite skips empty statements
            program = self._connection.execute(f"explain {sql}", bound.params or ()).fetchall()
        except sqlite3.Error as error:
            raise Unreadable(str(error)) from error
        finally:
            self._connection.set_authorizer(None)
        return found | {self._pages[p2] for _, name, _, p2, p3, *_ in program if name == "OpenRead" and p3 == 0}
