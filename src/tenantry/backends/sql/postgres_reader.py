"""Readers: the few connections of one event loop that do the reads.

They speak to libpq below psycopg's cursors, which take as long again for a small row: on a direct connection a held
prepared statement, behind a pooler the statement whole, both in one round trip.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format

from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.failures import connection_lost, outdated
from tenantry.backends.sql.rows import Row
from tenantry.migrations.address import PostgresServer

if TYPE_CHECKING:
    from tenantry.migrations.postgres_connection import PostgresConnection

_READERS = 4


class Readers:
    """Lends each read a connection of its own, at most four at a time; the one used last is lent first."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._idle: list[_Reader] = []
        self._places = asyncio.Semaphore(_READERS)
        self._ended = False

    async def fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        """All rows. Raises the driver's errors, and TimeoutError at the deadline."""
        async with asyncio.timeout(remaining(deadline)), self._places:
            try:
                return await self._fetch(text, values, deadline)
            except Exception as error:
                if isinstance(error, TimeoutError) or not (connection_lost(error) or outdated(error)):
                    raise
            self.close()  # the others are no better
            return await self._fetch(text, values, deadline)

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        reader = self._idle.pop() if self._idle else _Reader(await self._server.connect(seconds=remaining(deadline)))
        try:
            rows = await reader.fetch(text, values)
        except BaseException:
            reader.close()  # whatever it was doing, nobody waits for it
            raise
        if self._ended:
            reader.close()
        else:
            self._idle.append(reader)
        return rows

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def end(self) -> None:
        """Closes those that are idle now, and each other one when its read is done."""
        self._ended = True
        self.close()


class _Reader:
    """A connection with its prepared statements."""

    __slots__ = ("_connection", "_decoder", "_names")

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._decoder = Transformer(connection)
        self._names: dict[str, bytes] = {}

    async def fetch(self, text: str, values: tuple[Any, ...]) -> Sequence[Row]:
        pgconn = self._connection.pgconn
        params, formats = _encoded(values)
        if self._connection.direct:
            name = self._names.get(text) or await self._prepare(text)
            pgconn.send_query_prepared(name, params, formats, Format.BINARY)
        else:
            pgconn.send_query_params(text.encode(), params, None, formats, Format.BINARY)
        result = await self._result(ExecStatus.TUPLES_OK)
        decoder = self._decoder
        decoder.set_pgresult(result, set_loaders=True, format=Format.BINARY)
        rows: Sequence[Row] = decoder.load_rows(0, result.ntuples, tuple)
        return rows

    async def _prepare(self, text: str) -> bytes:
        name = b"tenantry_%d" % len(self._names)
        self._connection.pgconn.send_prepare(name, text.encode())
        await self._result(ExecStatus.COMMAND_OK)
        self._names[text] = name
        return name

    async def _result(self, wanted: ExecStatus) -> Any:
        (result,) = await self._connection.wait(execute(self._connection.pgconn))
        if result.status != wanted:
            raise error_from_result(result)
        return result

    def close(self) -> None:
        self._connection.terminate()


def _encoded(values: tuple[Any, ...]) -> tuple[list[bytes | None], list[int]]:
    """As libpq takes them: bytes as they are, all else as text, of which the server makes what its place wants."""
    params: list[bytes | None] = []
    formats: list[int] = []
    for value in values:
        if isinstance(value, bytes):
            params.append(value)
            formats.append(Format.BINARY)
        else:
            params.append(_text(value))
            formats.append(Format.TEXT)
    return params, formats


def _text(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, list):  # of handles
        return b"{" + b",".join([b'"\\\\x%s"' % each.hex().encode() for each in value]) + b"}"
    return str(value).encode()
