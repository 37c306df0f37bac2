"""MariaDB: the tables that the server must have a right to, to explain the text.

EXPLAIN itself names aliases, and leaves out what the optimizer has read already. So users who may read some tables ask
for it, and the server names the first that is missing.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import pymysql

from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.databases import Engine, MariaDBDatabase
from tests.sql.guarding.second_readers import Unreadable

_DENIED: Final = 1142
_TABLE: Final = re.compile(r"for table `[^`]*`\.`([^`]*)`")


class Reader:
    """One user for each set of tables."""

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine.everyone, MariaDBDatabase)
        self._database = engine.everyone
        self._connection = cache(self._connect)

    def tables(self, bound: BoundSQL) -> set[str]:
        found: set[str] = set()
        while True:
            missing = self._missing(bound, frozenset(found))
            if missing is None:
                return found
            assert missing not in found
            found.add(missing)

    def _missing(self, bound: BoundSQL, allowed: frozenset[str]) -> str | None:
        try:
            with self._connection(allowed).cursor() as cursor:
                cursor.execute(f"explain {bound.sql}", bound.params)
                cursor.fetchall()
        except pymysql.MySQLError as error:
            denied = _TABLE.search(str(error)) if error.args[0] == _DENIED else None
            if denied is None:
                raise Unreadable(str(error)) from error
            return denied[1]
        return None

    def _connect(self, allowed: Iterable[str]) -> Any:
        server, name, user = self._database.server, self._database.name, f"u_{secrets.token_hex(6)}"
        server.execute(f"create user `{user}`@`127.0.0.1`")
        server.execute(f"create table if not exists `{name}`.nothing (id integer)")
        for table in ("nothing", *allowed):  # of a database without a right nothing may be used
            server.execute(f"grant select on `{name}`.`{table}` to `{user}`@`127.0.0.1`")
        return server.connect(name, user=user)
