"""while_connected: what is under way for a viewer is stopped when the viewer leaves.

No server and no framework does that by itself: that a client has left is a message, and nobody reads it while a view
waits for its rows. Here a task reads it: of a request once its body has been read, of a websocket ahead of its app, so
that no message is lost (UserGroupMiddleware's ReadAhead).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from tenantry.accessors import VIEWER_KEY
from tenantry.errors import MiddlewareMissing, ViewerLeft

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.websockets import WebSocket

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


class _Stay:
    """One block. ``cancelling``: how many had asked to cancel its task before."""

    __slots__ = ("_task", "cancelling", "was_stopped")

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self.cancelling = task.cancelling()
        self.was_stopped = False

    def stop(self) -> None:
        self.was_stopped = True
        self._task.cancel()


class _Watch:
    """Waits for the viewer of one connection to leave, while there are blocks that want to know."""

    def __init__(self, wait_left: Callable[[], Awaitable[None]]) -> None:
        self.has_left = False
        self._reading = asyncio.Lock()
        self._has_read = False
        self._wait_left = wait_left
        self._stays: set[_Stay] = set()
        self._listener: asyncio.Task[None] | None = None

    def add(self, stay: _Stay) -> None:
        """Raises ViewerLeft for one who has left already."""
        if self.has_left:
            raise ViewerLeft("the viewer has left")
        self._stays.add(stay)
        if self._listener is None:
            self._listener = asyncio.get_running_loop().create_task(self._listen(), name="tenantry.viewer")

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

    async def _listen(self) -> None:
        try:
            await self._wait_left()
        except Exception as error:  # noqa: BLE001  # a server's or middleware's own: nobody can know, so nothing stops
            _log.warning("it cannot be seen whether a viewer leaves: receive raised %s", type(error).__qualname__)
            return
        self.has_left = True
        for stay in self._stays:
            stay.stop()


async def _find_watch(connection: Request | WebSocket) -> _Watch:
    """One for each connection: two who receive at once would take each other's messages."""
    scope = connection.scope
    watch: _Watch | None = scope.get(_WATCH_KEY)
    if scope["type"] == "websocket":
        if VIEWER_KEY not in scope:
            raise MiddlewareMissing("while_connected(websocket) needs a websocket that UserGroupMiddleware let in")
        if watch is None:
            watch = scope[_WATCH_KEY] = _Watch(scope[VIEWER_KEY].wait_left)
        return watch
    request = cast("Request", connection)
    if watch is None:
        watch = scope[_WATCH_KEY] = _Watch(lambda: _wait_disconnect(request))
    await watch.read_body(request)
    return watch


async def _wait_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
