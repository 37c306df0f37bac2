from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self, TypeAlias
from urllib.parse import quote

from tenantry.datasources.activity import Execution, ObservedQuery, outcome_of
from tenantry.datasources.bound_query import BoundQuery
from tenantry.datasources.driver import Chunks
from tenantry.datasources.query_label import with_tag
from tenantry.datasources.results.chunks import MEDIA_TYPES, MakeWriter

OnBegin: TypeAlias = Callable[[float], None]
"""Called when a query begins to run. The argument is the time that it waited for a connection, in seconds."""


class ResultStream:
    """A response body in chunks: ``StreamingResponse(stream, media_type=stream.media_type)``.

    The stream holds one of its group's connections until the last chunk is read, a limit is reached, or the stream is
    closed or garbage-collected. After an error, every further read raises the same error, so that an incomplete body
    never looks complete.
    """

    def __init__(self, chunks: Chunks, format_: str) -> None:
        self._chunks = chunks
        self.media_type: Final[str] = MEDIA_TYPES[format_]
        self._finalizer = weakref.finalize(self, _close_later, asyncio.get_running_loop(), chunks)
        self._finalizer.atexit = False

    @property
    def row_count(self) -> int:
        """Number of rows read so far."""
        return self._chunks.row_count

    def headers(self, file_name: str | None = None) -> dict[str, str]:
        """Return response headers. With ``file_name``, browsers save the body under this name (RFC 6266)."""
        headers = {"X-Content-Type-Options": "nosniff"}
        if file_name is not None:
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
        return headers

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return the next chunk, never empty. Raises the errors that ``DataSources.fetch`` raises while a query
        runs."""
        while True:
            chunk = await self._chunks.next()
            if chunk is None:
                raise StopAsyncIteration
            if chunk:
                return chunk

    async def aclose(self) -> None:
        """Stop the query if it still runs, without waiting for the engine."""
        self._finalizer.detach()
        self._chunks.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()


def _close_later(loop: asyncio.AbstractEventLoop, chunks: Chunks) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(chunks.close)


async def open_stream(
    query: BoundQuery, observed: ObservedQuery, make_writer: MakeWriter, on_begin: OnBegin | None = None
) -> Chunks:
    opened, execution, cleanup = query.opened, Execution(observed.activity, query.label), ExitStack()
    opened.users += 1
    cleanup.callback(opened.release)

    def end(outcome: str, rows: int, size: int) -> None:
        execution.end(outcome, rows, size)
        observed.rows = rows
        observed.end(outcome)
        cleanup.close()  # an ExitStack runs its callbacks once, so `end` may be called twice

    try:
        weight = 1.0 if query.weight is None else query.weight()
        turn = opened.queue.acquire(query.group.handle, weight, is_stream=True)
        cleanup.callback(turn.leave)
        if not turn.came.done():
            execution.wait()
            await turn.wait()
        execution.begin()
        observed.queue_seconds = execution.waited
        if on_begin is not None:
            on_begin(execution.waited)
        sql = with_tag(query.sql, query.label) if opened.is_tagged else query.sql
        return await opened.pool.stream(make_writer, sql, turn, query.session, end)
    except BaseException as error:
        end(outcome_of(error), 0, 0)
        raise
