"""Reading a body: at most 64 KiB, within 10 s, judged on its announced length before the first byte is asked for."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from starlette.types import Message, Receive

from tenantry.errors import BodyTooLarge, RequestTimeout
from tenantry.provisioning.deadline import DeadlineExceeded, run_with_timeout

MAX_BODY: Final = 64 * 1024
"""Bytes."""

BODY_SECONDS: Final = 10.0
"""How long a client may take to send its body."""


DRAIN_SECONDS: Final = 1.0
"""How long the rest of a body is waited for that nobody wants any more."""


class ClientGone(Exception):
    """The client closed the connection before its body was complete: nothing was done and nobody is to be answered."""


async def read_body(receive: Receive, announced: int | None, *, seconds: float = BODY_SECONDS) -> bytes:
    """The whole body of an ASGI request; ``announced`` is its Content-Length.

    A server sends ``100 Continue`` when a body is first asked for, so one that is announced too large is never sent.
    Raises BodyTooLarge, RequestTimeout, ClientGone.
    """
    if announced is not None and announced > MAX_BODY:
        raise _too_large()
    try:
        return await run_with_timeout(seconds, _read(receive))
    except DeadlineExceeded:
        raise RequestTimeout(f"the body did not arrive within {seconds:g} seconds") from None


async def _read(receive: Receive) -> bytes:
    """Linear in the size, however small the chunks."""
    message = await receive()
    first = _chunk(message)
    more = message.get("more_body", False)
    if not more:
        return first
    body = bytearray(first)
    while more:
        message = await receive()
        body += _chunk(message)
        if len(body) > MAX_BODY:
            raise _too_large()
        more = message.get("more_body", False)
    return bytes(body)


def _chunk(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientGone
    chunk: bytes = message.get("body", b"")
    if len(chunk) > MAX_BODY:
        raise _too_large()
    return chunk


def _too_large() -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {MAX_BODY} bytes")


class Incoming:
    """The messages of a request on their way to whoever reads them, and whether its body has come to its end."""

    __slots__ = ("_receive", "whole")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.whole = False

    async def receive(self) -> Message:
        message = await self._receive()
        self.whole = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Reads and forgets the rest of the body, 64 KiB at most and for a second at most.

        A client that is still sending when the server answers and closes may lose the answer to a reset of the
        connection (RFC 9112 section 9.6). ``whole`` tells whether it came to its end.
        """
        with suppress(DeadlineExceeded):
            await run_with_timeout(DRAIN_SECONDS, self._drain())

    async def _drain(self) -> None:
        size = 0
        while not self.whole and size <= MAX_BODY:
            size += len((await self.receive()).get("body", b""))
