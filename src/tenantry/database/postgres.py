"""A connection to PostgreSQL through psycopg, and whether a pooler stands between.

A pooler in transaction mode (PgBouncer, for one) gives each transaction a server process of its own choice. What
belongs to one process does not survive there: prepared statements, settings of the session, LISTEN. A pooler also
refuses most start-up parameters. So nothing of the kind is sent before it is known that the connection is direct.

Fixed statements are run by libpq below psycopg's cursors: a cursor takes as long again as the read of a small row. Each
is one round trip: on a direct connection it is prepared when it is run for the second time, and held; behind a pooler
it is sent whole, parsed and run at once.
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
    """``direct`` is False when a pooler stands between: then statements are not prepared, and ``SET_IN_TRANSACTION``
    begins each transaction. Where ``cancels``, the query of a call that is cancelled is cancelled on the server, which
    may take seconds; else the connection is closed at once."""

    direct = False
    cancels = False
    _statements: FixedStatements | None = None

    async def run(self, text: str, values: tuple[Any, ...]) -> tuple[Sequence[tuple[Any, ...]], int]:
        """All rows of a fixed statement, and how many it changed or gave. Raises psycopg's errors."""
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
    """As libpq takes them: bytes as they are, all else as text, which the server converts to the type it needs."""
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


_adapters = AdaptersMap(psycopg.adapters)  # JSON is given as text
_adapters.register_loader("json", TextLoader)
_adapters.register_loader("json", TextBinaryLoader)
set_json_dumps(json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode, _adapters)
