"""ResultStream: the body of a response whose rows are still coming."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from tenantry.datasources.activity import Activity, Execution, ObservedQuery, SourceCounters, outcome_of
from tenantry.datasources.driver import DataSource, Pieces
from tenantry.datasources.pools import Pools
from tenantry.datasources.query_label import QueryLabel
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.results.pieces import MEDIA_TYPES, MakeWriter
from tenantry.sql import BoundSQL


class ResultStream:
    """The pieces of a body, as bytes: ``StreamingResponse(stream, media_type=stream.media_type)``.

    It holds a connection and a turn of its group until its last piece was read, ``aclose`` was called, nobody refers to
    it any more, or a limit of streams is met. Reading on after an error raises it again: a body that is not whole never
    looks as if it were.
    """

    def __init__(self, pieces: Pieces, format_: str, counters: SourceCounters) -> None:
        self._pieces = pieces
        self._counters = counters
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
        SourceUnavailable."""
        while True:
            piece = await self._pieces.next()
            if piece is None:
                raise StopAsyncIteration
            if piece:
                self._counters.bytes += len(piece)
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


async def open_stream(
    pools: Pools,
    activity: Activity,
    registered: RegisteredSource,
    group: UserGroup,
    label: QueryLabel,
    weight: float,
    bind: Callable[[DataSource], BoundSQL],
    make_writer: MakeWriter,
) -> Pieces:
    """The pieces of one query, of which the first is there. Its span ends with that one."""
    with ObservedQuery(activity, label) as span:
        opened = pools.find(registered)
        opened.users += 1
        execution, release = Execution(activity, label), ExitStack()
        release.callback(pools.release, opened)

        def end(outcome: str, rows: int) -> None:
            execution.end(outcome, rows)
            activity.usage.add(label.environment, label.group, rows=rows)
            release.close()  # the second time there is nothing to do

        try:
            bound = bind(opened.source)
            span.set_statement(opened.source.dialect, bound.sql)
            session = None if opened.session is None else opened.session.bind(group)
            if not opened.turns.take_now(group.handle, weight):
                execution.wait()
                await opened.wait_for_turn(group.handle, weight, pools.connect_timeout)
            release.callback(opened.turns.give_back, group.handle)
            execution.begin()
            span.set_origin(cache_hit=False, queue_seconds=execution.waited)
            return await opened.source.stream(make_writer, opened.to_send(bound, label), session, end)
        except BaseException as error:
            end(outcome_of(error), 0)
            raise
