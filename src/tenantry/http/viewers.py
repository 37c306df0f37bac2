from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from tenantry.aio import ReadAhead
from tenantry.errors import MiddlewareMissing, ViewerLeft
from tenantry.http.accessors import VIEWER_KEY

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send
    from starlette.websockets import WebSocket

Found = TypeVar("Found")

_WATCH_KEY: Final = "tenantry.watch"
_log = logging.getLogger(__name__)


@asynccontextmanager
async def while_connected(connection: Request | WebSocket) -> AsyncIterator[None]:
    """``async with while_connected(request): rows = await sources.fetch(…)`` cancels the block when the viewer
    disconnects, and then raises ViewerLeft. If other viewers wait for the same query, the query continues.

    Before the block begins, the request's body is read; the view can still read it afterwards. Raises MiddlewareMissing
    for a websocket without a user group."""
    watch = await _find_watch(connection)
    async with _block(watch):
        yield


# --- endpoints that make their own Request ----------------------------------------------------------------------------


def watched_request(scope: Scope, receive: Receive, send: Send) -> Request:
    """Return a Request for which a ``while_connected`` block can begin before the body is read. Pass
    ``request.receive``, not ``receive``, to the response."""
    from starlette.requests import Request

    if _WATCH_KEY in scope:  # an outer view already watches the connection
        return Request(scope, receive, send)
    ahead = ReadAhead(receive)
    scope[_WATCH_KEY] = Watch(ahead.wait_left, has_read=True)
    return Request(scope, ahead, send)


VIEWER_OF_THREAD: Final[ContextVar[Watch | None]] = ContextVar("tenantry.viewer_of_thread", default=None)
"""The Watch of a viewer. It is set in a thread that works for the viewer, and in the calls that this thread makes on
the event loop."""


@asynccontextmanager
async def while_thread_works(request: Request) -> AsyncIterator[None]:
    """Put ``async with while_thread_works(request)`` around code that awaits a thread. If the viewer disconnects, the
    thread's calls of data sources raise ViewerLeft."""
    watch = await _find_watch(request)
    token, stay = VIEWER_OF_THREAD.set(watch), _Stay(None)
    watch.add(stay)
    try:
        yield
    finally:
        VIEWER_OF_THREAD.reset(token)
        await watch.remove(stay)


async def ask_for_thread(watch: Watch, ask: Callable[[], Awaitable[Found]]) -> Found:
    """Await ``ask()`` for a thread that works for the viewer. Raises ViewerLeft if the viewer disconnects."""
    if watch.loop is not asyncio.get_running_loop():  # the Watch belongs to another loop
        return await ask()
    token = VIEWER_OF_THREAD.set(None)
    try:
        async with _block(watch):
            found = await ask()
    finally:
        VIEWER_OF_THREAD.reset(token)
    return found


# --- what they share --------------------------------------------------------------------------------------------------


class _Stay:
    __slots__ = ("_task", "cancelling", "was_stopped")

    def __init__(self, task: asyncio.Task[Any] | None) -> None:
        self._task = task
        # Cancellations that were pending before the block. Any further cancellation is ours.
        self.cancelling = 0 if task is None else task.cancelling()
        self.was_stopped = False

    def stop(self) -> None:
        self.was_stopped = True
        if self._task is not None:
            self._task.cancel()


class Watch:
    """Cancels the active ``while_connected`` blocks of a request when its viewer disconnects."""

    def __init__(self, wait_left: Callable[[], Coroutine[Any, Any, None]], *, has_read: bool = False) -> None:
        self.loop: Final = asyncio.get_running_loop()
        self.has_left: bool = False
        self._reading = asyncio.Lock()
        self._has_read = has_read
        self._wait_left = wait_left
        self._stays: set[_Stay] = set()
        self._listener: asyncio.Task[None] | None = None

    def add(self, stay: _Stay) -> None:
        """Cancel the block of ``stay`` when the viewer leaves. Raises ViewerLeft if the viewer has already left."""
        if self.has_left:
            raise ViewerLeft("the viewer has left")
        self._stays.add(stay)
        if self._listener is None:
            self._listener = self.loop.create_task(self._wait_left(), name="tenantry.viewer")
            self._listener.add_done_callback(self._stop_stays)

    async def remove(self, stay: _Stay) -> None:
        self._stays.discard(stay)
        # Stop listening: the code that sends the response may call ``receive`` itself.
        if not self._stays and self._listener is not None:
            listener, self._listener = self._listener, None
            listener.cancel()
            await asyncio.wait({listener})

    async def read_body(self, request: Request) -> None:
        from starlette.requests import ClientDisconnect

        async with self._reading:
            if self._has_read:
                return
            try:
                await request.body()
            except ClientDisconnect:
                self.has_left = True
            except RuntimeError:
                pass  # the view has already read the body by ``stream()`` or ``form()``
            self._has_read = True

    def _stop_stays(self, listener: asyncio.Task[None]) -> None:
        if listener.cancelled():
            return
        error = listener.exception()
        if error is not None:  # ``receive`` is broken: disconnects cannot be seen, so nothing is cancelled
            _log.warning("cannot detect whether a viewer leaves: receive raised %s", type(error).__qualname__)
            return
        self.has_left = True
        for stay in self._stays:
            stay.stop()


@asynccontextmanager
async def _block(watch: Watch) -> AsyncIterator[None]:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  # a coroutine always runs in a task
    stay = _Stay(task)
    watch.add(stay)
    try:
        yield
    except asyncio.CancelledError:
        if not stay.was_stopped or task.uncancel() > stay.cancelling:
            raise  # another cancellation of the task is pending too
    else:
        if stay.was_stopped:  # the block has swallowed our cancellation
            task.uncancel()
        return
    finally:
        await watch.remove(stay)
    raise ViewerLeft("the viewer has left")


async def _find_watch(connection: Request | WebSocket) -> Watch:
    # One Watch per connection: two concurrent receivers would take each other's messages.
    scope = connection.scope
    watch: Watch | None = scope.get(_WATCH_KEY)
    if scope["type"] == "websocket":
        if VIEWER_KEY not in scope:
            raise MiddlewareMissing(
                "while_connected(websocket) needs a websocket with a user group: add UserGroupMiddleware, and connect "
                "with a token"
            )
        if watch is None:
            watch = scope[_WATCH_KEY] = Watch(scope[VIEWER_KEY].wait_left)
        return watch
    request = cast("Request", connection)
    if watch is None:
        watch = scope[_WATCH_KEY] = Watch(lambda: _wait_disconnect(request))
    await watch.read_body(request)
    return watch


async def _wait_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
