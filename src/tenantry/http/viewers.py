"""while_connected: what is under way for a viewer is stopped when the viewer leaves.

No server and no framework does that by itself: that a client has left is a message, and nobody reads it while a view
waits for its rows. Here a task reads it: of a request once its body has been read, of a websocket and of a dashboard
ahead of the app, so that no message is lost (ReadAhead).
"""

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
    """``async with while_connected(request): rows = await sources.fetch(…)``: the block is cancelled when the viewer
    leaves, and so its query is stopped, unless others wait for the same one.

    Raises ViewerLeft then, which nobody reads: ``error_handler`` answers it quietly. ``request`` is that of the view.
    Its body is read before the block begins, and ``request.body()``, ``json()`` and ``form()`` give it as ever. A
    websocket needs UserGroupMiddleware, which keeps the messages that come meanwhile: else MiddlewareMissing.
    """
    watch = await _find_watch(connection)
    async with _block(watch):
        yield


# --- of an endpoint that makes its own request ------------------------------------------------------------------------


def watched_request(scope: Scope, receive: Receive, send: Send) -> Request:
    """A request whose body ``while_connected`` need not read first: what comes is kept for whoever asks for it. Its
    response is to be sent with ``request.receive``."""
    from starlette.requests import Request

    if _WATCH_KEY in scope:  # a view around this one receives already
        return Request(scope, receive, send)
    ahead = ReadAhead(receive)
    scope[_WATCH_KEY] = Watch(ahead.wait_left, has_read=True)
    return Request(scope, ahead, send)


VIEWER_OF_THREAD: Final[ContextVar[Watch | None]] = ContextVar("tenantry.viewer_of_thread", default=None)
"""In a thread that works for a viewer, and in what it runs on the event loop: what knows whether the viewer leaves."""


@asynccontextmanager
async def while_thread_works(request: Request) -> AsyncIterator[None]:
    """For a block that waits for a thread. It goes on when the viewer leaves, for no thread can be cancelled; but what
    the thread asks of data sources, then and afterwards, raises ViewerLeft there."""
    watch = await _find_watch(request)
    token, stay = VIEWER_OF_THREAD.set(watch), _Stay(None)
    watch.add(stay)
    try:
        yield
    finally:
        VIEWER_OF_THREAD.reset(token)
        await watch.remove(stay)


async def ask_for_thread(watch: Watch, ask: Callable[[], Awaitable[Found]]) -> Found:
    """What ``ask`` gives. Raises ViewerLeft when the viewer leaves before."""
    if watch.loop is not asyncio.get_running_loop():  # the thread has a loop of its own: nothing here may touch it
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
    """One block. ``cancelling``: how many had asked to cancel its task before. Without a task it goes on."""

    __slots__ = ("_task", "cancelling", "was_stopped")

    def __init__(self, task: asyncio.Task[Any] | None) -> None:
        self._task = task
        self.cancelling = 0 if task is None else task.cancelling()
        self.was_stopped = False

    def stop(self) -> None:
        self.was_stopped = True
        if self._task is not None:
            self._task.cancel()


class Watch:
    """Waits for the viewer of one connection to leave, while there are blocks that want to know. ``has_read``: the body
    need not be read before."""

    def __init__(self, wait_left: Callable[[], Coroutine[Any, Any, None]], *, has_read: bool = False) -> None:
        self.loop: Final = asyncio.get_running_loop()
        self.has_left: bool = False
        self._reading = asyncio.Lock()
        self._has_read = has_read
        self._wait_left = wait_left
        self._stays: set[_Stay] = set()
        self._listener: asyncio.Task[None] | None = None

    def add(self, stay: _Stay) -> None:
        """Raises ViewerLeft for one who has left already."""
        if self.has_left:
            raise ViewerLeft("the viewer has left")
        self._stays.add(stay)
        if self._listener is None:
            self._listener = self.loop.create_task(self._wait_left(), name="tenantry.viewer")
            self._listener.add_done_callback(self._stop_stays)

    async def remove(self, stay: _Stay) -> None:
        """After the last block nobody receives here any more: what sends the answer may want to."""
        self._stays.discard(stay)
        if not self._stays and self._listener is not None:
            listener, self._listener = self._listener, None
            listener.cancel()
            await asyncio.wait({listener})

    async def read_body(self, request: Request) -> None:
        """Once. What is behind the body is the message that is waited for; the request keeps the body for the view."""
        from starlette.requests import ClientDisconnect

        async with self._reading:
            if self._has_read:
                return
            try:
                await request.body()
            except ClientDisconnect:
                self.has_left = True
            except RuntimeError:
                pass  # the view has read it by ``stream()`` or ``form()``
            self._has_read = True

    def _stop_stays(self, listener: asyncio.Task[None]) -> None:
        if listener.cancelled():
            return
        error = listener.exception()
        if error is not None:  # a server's or middleware's own: nobody can know, so nothing stops
            _log.warning("it cannot be seen whether a viewer leaves: receive raised %s", type(error).__qualname__)
            return
        self.has_left = True
        for stay in self._stays:
            stay.stop()


@asynccontextmanager
async def _block(watch: Watch) -> AsyncIterator[None]:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  # a coroutine runs in one
    stay = _Stay(task)
    watch.add(stay)
    try:
        yield
    except asyncio.CancelledError:
        if not stay.was_stopped or task.uncancel() > stay.cancelling:
            raise  # somebody else has cancelled the task too
    else:
        if stay.was_stopped:  # and the block took no notice
            task.uncancel()
        return
    finally:
        await watch.remove(stay)
    raise ViewerLeft("the viewer has left")


async def _find_watch(connection: Request | WebSocket) -> Watch:
    """One for each connection: two who receive at once would take each other's messages."""
    scope = connection.scope
    watch: Watch | None = scope.get(_WATCH_KEY)
    if scope["type"] == "websocket":
        if VIEWER_KEY not in scope:
            raise MiddlewareMissing("while_connected(websocket) needs a websocket that UserGroupMiddleware let in")
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
