from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Generator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from starlette.types import Message, Receive

MAX_MESSAGES: Final = 16
MAX_BYTES: Final = 64 * 1024
"""Reading pauses once the queue holds MAX_MESSAGES messages or MAX_BYTES bytes. The last message may exceed
MAX_BYTES."""
_LEFT: Final = frozenset({"websocket.disconnect", "http.disconnect"})
_CLOSED_HERE: Final[dict[str, Any]] = {"type": "websocket.disconnect", "code": 1006}


class ReadAhead:
    """Reads the server's messages before the app asks for them, so that a disconnect is noticed early."""

    __slots__ = ("_is_left", "_kept", "_left", "_receive", "_receiving", "_size", "_space", "_turn")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: deque[Message] = deque()
        self._size = 0
        self._is_left = False
        self._left: asyncio.Future[None] | None = None  # what `wait_left` awaits
        self._space: asyncio.Future[None] | None = None
        self._receiving: _Interruptible | None = None
        self._turn: asyncio.Future[None] | None = None  # done when the current receiver has a message or gives up

    async def __call__(self) -> Message:
        while not self._kept:
            if self._turn is None:
                return await self._take()
            await asyncio.wait({self._turn})
        message = self._kept.popleft()
        self._size -= _size(message)
        if self._space is not None and not self._space.done():
            self._space.set_result(None)
        return message

    async def wait_left(self) -> None:
        """Wait until the client disconnects or ``mark_left`` is called. Only one task at a time may wait."""
        if self._is_left:
            return
        loop = asyncio.get_running_loop()
        self._left = loop.create_future()
        reading = loop.create_task(self._read_on())
        try:
            await asyncio.wait({reading, self._left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reading.cancel()
            await asyncio.wait({reading})
        if not self._is_left:
            reading.result()  # raises the error of the server's ``receive``

    def mark_left(self) -> None:
        self._is_left = True
        if self._receiving is not None:
            self._receiving.interrupt()
        if self._left is not None and not self._left.done():
            self._left.set_result(None)

    async def _read_on(self) -> None:
        while not self._is_left:
            if self._turn is not None:
                await asyncio.wait({self._turn})
            elif len(self._kept) >= MAX_MESSAGES or self._size >= MAX_BYTES:
                self._space = asyncio.get_running_loop().create_future()
                await self._space
            else:
                message = await self._take()
                self._kept.append(message)
                self._size += _size(message)

    async def _take(self) -> Message:
        turn = self._turn = asyncio.get_running_loop().create_future()
        receiving = self._receiving = _Interruptible(self._receive())
        try:
            message = await receiving
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not receiving.interrupted or (task is not None and task.cancelling()):
                raise
            return {**_CLOSED_HERE}
        finally:
            self._turn = self._receiving = None
            turn.set_result(None)
        if message["type"] in _LEFT:
            self.mark_left()
        return message


class _Interruptible(Generator[Any, Any, "Message"]):
    __slots__ = ("_steps", "_waits_for", "interrupted")

    def __init__(self, awaitable: Awaitable[Message]) -> None:
        self._steps: Any = awaitable.__await__()
        self._waits_for: Any = None
        self.interrupted: bool = False

    def __await__(self) -> Generator[Any, Any, Message]:
        return self

    def send(self, _: Any) -> Any:
        self._waits_for = next(self._steps)
        return self._waits_for

    def throw(self, *error: Any) -> Any:
        if not hasattr(self._steps, "throw"):  # granian's own future
            raise error[0]
        self._waits_for = self._steps.throw(*error)
        return self._waits_for

    def interrupt(self) -> None:
        self.interrupted = True
        if self._waits_for is not None:
            self._waits_for.cancel()


def _size(message: Message) -> int:
    return len(message.get("body") or message.get("bytes") or message.get("text") or "")
