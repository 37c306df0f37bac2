"""A connection to PostgreSQL through psycopg, direct or through a pooler.

A pooler in transaction mode, such as PgBouncer, lends a server process to each transaction: prepared statements,
session settings and LISTEN do not survive, and most start-up parameters are refused. So they are used only on a direct
connection.

Fixed statements run in libpq, below psycopg's cursors, which take as long as the read of a small row. Each is one round
trip: prepared at its second run on a direct connection, else sent whole.
"""

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
from psycopg.pq import ExecStatus, Format
from psycopg.types.json import set_json_dumps
from psycopg.types.string import TextBinaryLoader, TextLoader
from psycopg.waiting import wait_async
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

_APPLICATION = "tenantry"

IDLE_IN_TRANSACTION = "15s"
"""A client that vanished in the middle of a transaction must not hold its row locks."""

SET_IN_TRANSACTION = f"set local idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION}'"
"""The same for one transaction: behind a pooler, where a setting of the session would go to another client."""

# The process that answers has the number that was given at the start only where nothing stands between. One statement,
# for behind a pooler the next one may reach another process.
_DIRECT = (
    "select case when pg_backend_pid() = {} then"
    f" set_config('idle_in_transaction_session_timeout', '{IDLE_IN_TRANSACTION}', false) end"
)

_TEXTS = 200
"""So many texts are remembered at most; there are far fewer, but for some with a number in them."""

_DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class PostgresConnection(AsyncConnection[tuple[Any, ...]]):
    """``direct``: no pooler in between; else statements are not prepared, and ``SET_IN_TRANSACTION`` begins each
    transaction. ``cancels``: a cancelled call cancels its query on the server, which may take seconds; else it
    closes the connection."""

    direct = False
    cancels = False
    _statements: FixedStatements | None = None

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        """All rows of a fixed statement, and the number of rows it changed or returned. Raises psycopg's errors."""
        if self._statements is None:
            self._statements = FixedStatements(self, hold=self.direct)
        return await self._statements.run(text, values)

    async def begin(self) -> None:
        """Begins a transaction that may not stay idle for long."""
        self.pgconn.send_query(b"begin" if self.direct else f"begin; {SET_IN_TRANSACTION}".encode())
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
        """Closes it now, whatever it is doing. Does no I/O that could wait."""
        self.pgconn.finish()


class FixedStatements:
    """The fixed statements of one connection. ``hold``: whether they may be prepared."""

    def __init__(self, connection: PostgresConnection, *, hold: bool) -> None:
        self._connection = connection
        self._decoder = Transformer(connection)
        self._hold = hold
        self._names: dict[str, bytes | None] = {}
        self._numbers = itertools.count(1)

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        """All rows, and how many rows were changed or given. Raises psycopg's errors."""
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
        """That of what was sent last; of several commands in one text, the last one's."""
        results = await self._connection.wait(execute(self._connection.pgconn))
        for each in results:
            if each.status not in _DONE:
                raise error_from_result(each)
        return results[-1]

    async def _name(self, text: str) -> bytes | None:
        """Of the prepared statement; None for a text that is run for the first time."""
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
    """Bytes as they are, all else as text, which the server converts."""
    params: list[bytes | None] = []
    formats: list[int] = []
    for value in values:
        formats.append(Format.BINARY if isinstance(value, bytes) else Format.TEXT)
        if value is None or isinstance(value, bytes):
            params.append(value)
        elif isinstance(value, list):  # of handles
            params.append(b"{" + b",".join([b'"\\\\x%s"' % each.hex().encode() for each in value]) + b"}")
        else:
            params.append(str(value).encode())
    return params, formats


async def connect(conninfo: str, *, seconds: float, transactions: bool) -> PostgresConnection:
    """Connects within ``seconds``; raises psycopg's errors and TimeoutError. Statements use ``$1``; JSON is text.
    ``transactions``: the first statement begins one, and cancelled queries are cancelled on the server; else each
    statement is one."""
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


_adapters = AdaptersMap(psycopg.adapters)  # JSON is given as text
_adapters.register_loader("json", TextLoader)
_adapters.register_loader("json", TextBinaryLoader)
set_json_dumps(json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode, _adapters)
