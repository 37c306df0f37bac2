"""Statements: fixed texts on one connection, run by libpq below psycopg's cursors.

A cursor takes as long again as the read of a small row. Here each statement is one round trip: on a direct connection
it is prepared when it is run for the second time, and held; behind a pooler it is sent whole, parsed and run at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format

if TYPE_CHECKING:
    from tenantry.migrations.postgres_connection import PostgresConnection

_TEXTS = 200
"""So many texts are remembered at most; there are far fewer, but for some with a number in them."""

_DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class Statements:
    """Those of one connection. ``hold``: whether a statement may be prepared."""

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
