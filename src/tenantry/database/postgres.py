"""Connects to PostgreSQL with psycopg, directly or through a pooler."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.types.json import set_json_dumps
from psycopg.types.string import TextBinaryLoader, TextLoader
from psycopg.waiting import wait_async
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

_APPLICATION = "tenantry"

IDLE_IN_TRANSACTION = "15s"
"""If a transaction is idle for this long, the server closes the connection, which releases the locks. The client may
have vanished."""

SET_IN_TRANSACTION = f"set local idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION}'"
"""Sets IDLE_IN_TRANSACTION for one transaction only. Behind a pooler, a limit for the session would affect other
clients."""

# Sets the idle limit of the session, but only on a direct connection. Behind a pooler, pg_backend_pid() may differ from
# the pid that the client got when it connected. Check and setting are one statement, because a pooler may send the next
# statement to another server process.
_DIRECT = (
    "select case when pg_backend_pid() = {} then"
    f" set_config('idle_in_transaction_session_timeout', '{IDLE_IN_TRANSACTION}', false) end"
)

# The program has far fewer, unless the SQL of one contains a changing number.
_TEXTS = 200
"""Maximum number of statements that a connection remembers."""

_DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class PostgresConnection(AsyncConnection[tuple[Any, ...]]):
    """A psycopg connection that also runs fixed statements. A fixed statement is SQL that is run again with other
    values."""

    # A transaction pooler, such as PgBouncer, may use another server connection for each transaction. So only direct
    # connections use prepared statements, session settings and LISTEN.
    direct = False
    """Whether the connection has no pooler in between. Behind a pooler, no statement is prepared, and ``begin`` also
    sends SET_IN_TRANSACTION."""
    cancels = False
    """What a cancelled task does with its query. If True, the task waits, possibly for seconds, until the server has
    cancelled the query. If False, the task closes the connection at once."""
    _statements: FixedStatements | None = None

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        """Run the SQL as a fixed statement. Return the rows and the number of changed rows. Raises psycopg's errors."""
        if self._statements is None:
            self._statements = FixedStatements(self, hold=self.direct)
        return await self._statements.run(text, values)

    async def begin(self) -> None:
        await self._command(b"begin" if self.direct else f"begin; {SET_IN_TRANSACTION}".encode())

    async def rollback(self) -> None:
        # psycopg's method also sends DEALLOCATE ALL, which would remove the prepared fixed statements.
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            await self._command(b"rollback")

    async def _command(self, text: bytes) -> None:
        self.pgconn.send_query(text)
        await FixedStatements(self, hold=False).result()

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        if self.cancels:
            return await super().wait(gen, *args, **options)
        try:
            return await wait_async(gen, self.pgconn.socket, *args, **{"interval": 0.1, **options})
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise

    def terminate(self) -> None:
        self.pgconn.finish()


class FixedStatements:
    """Runs the fixed statements of one connection. ``hold``: whether to prepare a statement when it runs for the second
    time."""

    def __init__(self, connection: PostgresConnection, *, hold: bool) -> None:
        self._connection = connection
        self._decoder = Transformer(connection)
        self._hold = hold
        self._names: dict[str, bytes | None] = {}
        self._numbers = itertools.count(1)

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        # psycopg's cursors would double the time of a small read.
        pgconn = self._connection.pgconn
        params, formats = _encoded(values)
        name = await self._name(text) if self._hold else None
        if name is None:
            pgconn.send_query_params(text.encode(), params, None, formats, Format.BINARY)
        else:
            pgconn.send_query_prepared(name, params, formats, Format.BINARY)
        result = await self.result()
        self._decoder.set_pgresult(result, set_loaders=True, format=Format.BINARY)
        return self._decoder.load_rows(0, result.ntuples, tuple), result.command_tuples or 0

    async def result(self) -> Any:
        results = await self._connection.wait(execute(self._connection.pgconn))
        for each in results:
            if each.status not in _DONE:
                raise error_from_result(each)
        return results[-1]

    async def _name(self, text: str) -> bytes | None:
        if text not in self._names:
            if len(self._names) < _TEXTS:
                self._names[text] = None
            return None
        name = self._names[text]
        if name is None:
            name = b"tenantry_%d" % next(self._numbers)
            self._connection.pgconn.send_prepare(name, text.encode())
            await self.result()
            self._names[text] = name
        return name


def _encoded(values: tuple[Any, ...]) -> tuple[list[bytes | None], list[int]]:
    params: list[bytes | None] = []
    formats: list[int] = []
    for value in values:
        formats.append(Format.BINARY if isinstance(value, bytes) else Format.TEXT)
        if value is None or isinstance(value, bytes):
            params.append(value)
        elif isinstance(value, list):  # a list of handles
            params.append(b"{" + b",".join([b'"\\\\x%s"' % each.hex().encode() for each in value]) + b"}")
        else:
            params.append(str(value).encode())
    return params, formats


async def connect(conninfo: str, *, seconds: float, transactions: bool) -> PostgresConnection:
    """Connect within ``seconds``. Write a statement's parameters as ``$1``, ``$2``. JSON values are returned as
    strings. With ``transactions``, the first statement begins a transaction, and a cancelled task cancels its query.
    Without ``transactions``, each statement commits. Raises psycopg's errors and TimeoutError."""
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
            connection.cancels = transactions
            await connection.set_autocommit(not transactions)  # no I/O, but psycopg may yield to the event loop
        except BaseException:
            connection.terminate()
            raise
    connection.direct = row is not None and row[0] is not None
    if connection.direct:
        connection.prepare_threshold = _PREPARED_AFTER
    return connection


def write_engine(connect: Callable[[], Awaitable[PostgresConnection]], **options: Any) -> AsyncEngine:
    """Return an SQLAlchemy engine. ``connect`` must open a connection with ``transactions=True``. ``options`` are
    passed to the engine's pool."""
    return create_async_engine(
        "postgresql+psycopg://",
        async_creator=connect,
        paramstyle=PARAMSTYLE,
        use_native_hstore=False,  # saves the query that looks up the types of hstore
        hide_parameters=True,
        **options,
    )


def driver_of(pooled: Any) -> PostgresConnection:
    found: PostgresConnection = pooled.driver_connection
    return found


PARAMSTYLE: Final = "numeric_dollar"

_PREPARED_AFTER = 5
"""psycopg prepares a statement after this many runs on a connection, so a ``tenantry`` command that writes once
prepares none."""


_adapters = AdaptersMap(psycopg.adapters)  # loads JSON as a string
_adapters.register_loader("json", TextLoader)
_adapters.register_loader("json", TextBinaryLoader)
set_json_dumps(json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode, _adapters)
