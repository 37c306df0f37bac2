from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenantry.middleware import ResponseCut

PIECE_BYTES: Final = 64 * 1024
WRITE_SECONDS: Final = 30.0
"""Time limit for sending one piece."""
SLOW_SECONDS: Final = 5.0
"""A reader is slow if the last ``_SLOW_PIECES`` pieces took longer than this many seconds. It reads less than 64
KiB per second."""
_SLOW_PIECES: Final = 5


def in_pieces(parts: Iterable[bytes | memoryview]) -> deque[bytes]:
    pieces, rest = deque[bytes](), bytearray()
    for part in parts:
        rest += part
        if len(rest) >= PIECE_BYTES:
            whole = len(rest) - len(rest) % PIECE_BYTES
            pieces += (bytes(rest[start : start + PIECE_BYTES]) for start in range(0, whole, PIECE_BYTES))
            del rest[:whole]
    if rest:
        pieces.append(bytes(rest))
    return pieces


class ReadTooSlowly(ResponseCut):
    pass


class PacedSend:
    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._waited = 0.0
        """Total seconds that sent pieces waited for the reader."""
        self._waits = deque([0.0], maxlen=_SLOW_PIECES)
        """``_waited`` after each of the last pieces."""
        self._began = 0.0
        self._deadline: asyncio.Timeout | None = None

    @property
    def is_slow(self) -> bool:
        if self._deadline is None:
            return False
        return self._waited + self._clock() - self._began - self._waits[0] > SLOW_SECONDS

    def cut_off(self) -> None:
        """Make a ``send`` in progress raise ReadTooSlowly."""
        if self._deadline is not None:
            self._deadline.reschedule(self._clock())
            self._deadline = None

    async def send(self, send: Send, message: Message) -> None:
        """Send a message in pieces. Raises ReadTooSlowly if a piece takes too long."""
        for part in _parts(message):
            self._began = self._clock()
            try:
                async with asyncio.timeout(WRITE_SECONDS) as deadline:
                    self._deadline = deadline
                    await send(part)
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise ReadTooSlowly("the reader was too slow") from None
            finally:
                self._deadline = None
            self._waited += self._clock() - self._began
            self._waits.append(self._waited)


def _parts(message: Message) -> Iterator[Message]:
    body = message.get("body", b"")
    for start in range(0, len(body) - PIECE_BYTES, PIECE_BYTES):
        yield {**message, "body": body[start : start + PIECE_BYTES], "more_body": True}
    if len(body) <= PIECE_BYTES:
        yield message
    else:
        yield {**message, "body": body[(len(body) - 1) // PIECE_BYTES * PIECE_BYTES :]}


class LargeBodiesInPieces:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        paced = PacedSend()

        async def send_paced(message: Message) -> None:
            if len(message.get("body", b"")) <= PIECE_BYTES:
                await send(message)
            else:
                await paced.send(send, message)

        with suppress(ReadTooSlowly):
            await self._app(scope, receive, send_paced)
