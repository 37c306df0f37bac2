"""A connection to PostgreSQL through psycopg, and whether a pooler stands between.

A pooler in transaction mode (PgBouncer, for one) gives each transaction a server process of its own choice. What
belongs to one process does not survive there: prepared statements, settings of the session, LISTEN. A pooler also
refuses most start-up parameters. So nothing of the kind is sent before it is known that the connection is direct.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.adapt import AdaptersMap
from psycopg.types.json import set_json_dumps
from psycopg.types.string import TextBinaryLoader, TextLoader
from psycopg.waiting import wait_async
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from tenantry.migrations.postgres_statements import Statements

_APPLICATION = "tenantry"

IDLE_IN_TRANSACTION = "15s"
"""A client that vanished in the middle of a transaction must not keep its row locks."""

SET_IN_TRANSACTION = f"set local idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION}'"
"""The same for one transaction: behind a pooler, where a setting of the session would go to another client."""

# The process that answers has the number that was told at the start only where nothing stands between. One statement,
# for behind a pooler the next one may reach another process.
_DIRECT = (
    "select case when pg_backend_pid() = {} then"
    f" set_config('idle_in_transaction_session_timeout', '{IDLE_IN_TRANSACTION}', false) end"
)


class PostgresConnection(AsyncConnection[tuple[Any, ...]]):
    """``direct`` is False when a pooler stands between: then statements are not prepared, and ``SET_IN_TRANSACTION``
    begins each transaction. Where ``cancels``, the query of a call that is cancelled is cancelled on the server, which
    may take seconds; else the connection is closed at once."""

    direct = False
    cancels = False
    _statements: Statements | None = None

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        """All rows of a fixed statement, and how many it changed or gave. Raises psycopg's errors."""
        if self._statements is None:
            self._statements = Statements(self, hold=self.direct)
        return await self._statements.run(text, values)

    async def begin(self) -> None:
        """Begins a transaction that may not stay idle for long."""
        self.pgconn.send_query(b"begin" if self.direct else f"begin; {SET_IN_TRANSACTION}".encode())
        await Statements(self, hold=False).result()

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        if self.cancels:
            return await super().wait(gen, *args, **options)
        try:
            return await wait_async(gen, self.pgconn.socket, *args, **{"interval": 0.1, **options})
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise

    def terminate(self) -> None:
        """Closes it now, whatever it is doing. Does no I/O that could wait."""
        self.pgconn.finish()


async def connect(conninfo: str, *, seconds: float, transactions: bool) -> PostgresConnection:
    """A connection made within ``seconds``; psycopg's own errors and TimeoutError come through.

    It takes statements with ``$1``, and gives JSON as text. With ``transactions`` its first statement begins one, and
    cancelled queries are cancelled on the server; else each statement is one, and there is nothing to commit.
    """
    async with asyncio.timeout(max(seconds, 0.001)):
        connection = await PostgresConnection.connect(
            conninfo,
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=AsyncRawCursor,
            context=_adapters,
            application_name=_APPLICATION,
            client_encoding="utf8",
        )
        try:
            cursor = await connection.execute(_DIRECT.format(connection.pgconn.backend_pid))
            row = await cursor.fetchone()
        except BaseException:
            connection.terminate()
            raise
    connection.direct = row is not None and row[0] is not None
    if connection.direct:
        connection.prepare_threshold = _PREPARED_AFTER
    connection.cancels = transactions
    await connection.set_autocommit(not transactions)  # no I/O
    return connection


def write_engine(connect: Callable[[], Awaitable[PostgresConnection]], **options: Any) -> AsyncEngine:
    """An engine of SQLAlchemy over connections made with ``transactions``. ``options`` are those of its pool."""
    return create_async_engine(
        "postgresql+psycopg://",
        async_creator=connect,
        paramstyle=PARAMSTYLE,
        use_native_hstore=False,  # its types would be asked for
        hide_parameters=True,
        **options,
    )


def driver_of(pooled: Any) -> PostgresConnection:
    """The connection behind one of SQLAlchemy's."""
    found: PostgresConnection = pooled.driver_connection
    return found


PARAMSTYLE: Final = "numeric_dollar"

_PREPARED_AFTER = 5
"""A statement is prepared when it has been run so often on one connection: a command of one write prepares none."""


def _text_json() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_loader("json", TextLoader)
    adapters.register_loader("json", TextBinaryLoader)
    set_json_dumps(_dump_json, adapters)
    return adapters


_dump_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_adapters = _text_json()
