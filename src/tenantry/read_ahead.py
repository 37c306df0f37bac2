"""ReadAhead: the messages of a client, of which some may be read before the app asks for them.

That the client has left is a message behind all others, so whoever waits for it has to take the others too. They are
kept for the app, in their order, and it notices nothing. At most one task receives from the server at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Message, Receive

MOST_MESSAGES: Final = 16
MOST_BYTES: Final = 64 * 1024
"""What is kept at most, and one message more: with as much, nothing is read before the app has taken it."""
_LEFT: Final = frozenset({"websocket.disconnect", "http.disconnect"})


class ReadAhead:
    """The ``receive`` of the app of a websocket or request, around the server's own."""

    __slots__ = ("_is_left", "_kept", "_left", "_receive", "_size", "_space", "_turn")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: deque[Message] = deque()
        self._size = 0
        self._is_left = False
        self._left: asyncio.Future[None] | None = None  # of the one who waits for it
        self._space: asyncio.Future[None] | None = None
        self._turn: asyncio.Future[None] | None = None  # done when whoever receives now has a message or gives up

    async def __call__(self) -> Message:
        """The client's next message."""
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
        """Returns when the client has left, or the websocket was closed here. For one task at a time. Raises what the
        server's ``receive`` does.

        What the client sends meanwhile is kept for the app; if that is too much, nothing is noticed before the app has
        taken some of it.
        """
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
            reading.result()  # the server's receive has failed

    def mark_left(self) -> None:
        """The websocket was closed here."""
        self._is_left = True
        if self._left is not None and not self._left.done():
            self._left.set_result(None)

    async def _read_on(self) -> None:
        while not self._is_left:
            if self._turn is not None:
                await asyncio.wait({self._turn})
            elif len(self._kept) >= MOST_MESSAGES or self._size >= MOST_BYTES:
                self._space = asyncio.get_running_loop().create_future()
                await self._space
            else:
                message = await self._take()
                self._kept.append(message)
                self._size += _size(message)

    async def _take(self) -> Message:
        """From the server; meanwhile nobody else does."""
        turn = self._turn = asyncio.get_running_loop().create_future()
        try:
            message = await self._receive()
        finally:
            self._turn = None
            turn.set_result(None)
        if message["type"] in _LEFT:
            self.mark_left()
        return message


def _size(message: Message) -> int:
    return len(message.get("body") or message.get("bytes") or message.get("text") or "")
