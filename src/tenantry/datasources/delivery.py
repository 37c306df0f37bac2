"""ResultStream: the body of a response whose rows are still coming."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from tenantry.datasources.activity import Execution, ObservedQuery, outcome_of
from tenantry.datasources.caching.single_flight import BoundQuery
from tenantry.datasources.driver import Pieces
from tenantry.datasources.pools import Pools
from tenantry.datasources.results.pieces import MEDIA_TYPES, MakeWriter


class ResultStream:
    """The pieces of a body, as bytes: ``StreamingResponse(stream, media_type=stream.media_type)``.

    It holds a connection and a turn of its group until its last piece was read, ``aclose`` was called, nobody refers to
    it any more, or a limit of streams is met. Reading on after an error raises it again: a body that is not whole never
    looks as if it were.
    """

    def __init__(self, pieces: Pieces, format_: str) -> None:
        self._pieces = pieces
        self.media_type: Final[str] = MEDIA_TYPES[format_]
        self._finalizer = weakref.finalize(self, _close_later, asyncio.get_running_loop(), pieces)
        self._finalizer.atexit = False

    @property
    def row_count(self) -> int:
        """Rows of the pieces so far."""
        return self._pieces.row_count

    def headers(self, file_name: str | None = None) -> dict[str, str]:
        """Headers of the response. With ``file_name`` a browser saves the body under it (RFC 6266)."""
        headers = {"X-Content-Type-Options": "nosniff"}
        if file_name is not None:
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
        return headers

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """The next piece, never an empty one. Raises QueryFailed, QueryTimeout, TooManyRows, TooManyBytes,
        SourceUnavailable; QueryOutdated once its group or data source has changed; StoreUnavailable where the store
        does not say in time whether they have."""
        while True:
            piece = await self._pieces.next()
            if piece is None:
                raise StopAsyncIteration
            if piece:
                return piece

    async def aclose(self) -> None:
        """Stops the query, if it still runs. Does not wait for the engine's answer."""
        self._finalizer.detach()
        self._pieces.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()


def _close_later(loop: asyncio.AbstractEventLoop, pieces: Pieces) -> None:
    """From any thread: an object may be thrown away in any."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(pieces.close)


async def open_stream(pools: Pools, query: BoundQuery, observed: ObservedQuery, make_writer: MakeWriter) -> Pieces:
    """The pieces of one query, of which the first is there. It is ``observed`` to its last one."""
    opened, execution, release = query.opened, Execution(observed.activity, query.label), ExitStack()
    opened.users += 1
    release.callback(pools.release, opened)

    def end(outcome: str, rows: int, size: int) -> None:
        execution.end(outcome, rows, size)
        observed.rows = rows
        observed.end(outcome)
        release.close()  # the second time there is nothing to do

    try:
        turn = opened.turns.ask(query.group, 1.0 if query.weight is None else query.weight(), is_stream=True)
        release.callback(turn.leave)
        if not turn.came.done():
            execution.wait()
            await turn.wait()
        execution.begin()
        observed.queue_seconds = execution.waited
        bound = opened.to_send(query.bound, query.label)
        return await opened.source.stream(make_writer, bound, turn, query.session, end)
    except BaseException as error:
        end(outcome_of(error), 0, 0)
        raise
