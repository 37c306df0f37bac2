from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.exc import IntegrityError

from tenantry.backends.sql.change_log import WriteContext, WriteResult
from tenantry.backends.sql.engine import insert_if_new
from tenantry.backends.sql.queries import Query
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.runner import Runner, Write
from tenantry.backends.stored import StoreClock, unknown_environment
from tenantry.groups import UNNAMED, Author, Environment

T = TypeVar("T")


class SQLPart:
    def __init__(self, runner: Runner, clock: StoreClock) -> None:
        self._runner = runner
        self._clock = clock

    def _read(self, query: Query, **values: Any) -> Awaitable[Sequence[Row]]:
        return self._runner.read(query, self._runner.deadline(), **values)

    async def _write(self, work: Write[T], author: Author = UNNAMED) -> T:
        return await self._runner.write(work, WriteContext(author, self._clock), self._runner.deadline())

    async def _write_to(
        self, handles: Sequence[bytes], work: Write[WriteResult[T]], author: Author, deadline: float | None = None
    ) -> T:
        by = self._runner.deadline() if deadline is None else deadline
        return await self._runner.write_to(handles, work, WriteContext(author, self._clock), by)


def insert_into_environment(
    connection: Connection, table: Table, values: dict[str, Any], environment: Environment
) -> int | None:
    """Like ``insert_if_new``, for a table whose only foreign key is the environment. Raises UnknownEnvironment."""
    try:
        return insert_if_new(connection, table, values)
    except IntegrityError as error:
        raise unknown_environment(environment) from error
