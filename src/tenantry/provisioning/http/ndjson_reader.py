from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tenantry.errors import BadJson, TenantryError
from tenantry.provisioning.deadline import DeadlineExceeded, run_with_timeout
from tenantry.provisioning.http.request import ApiRequest, ClientDisconnected, check_size

MAX_BULK: Final = 128 * 1024 * 1024
"""Maximum bytes of the whole body."""

MAX_LINE: Final = 64 * 1024
"""Maximum bytes of a line, without its line end."""

_WHITE_SPACE: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the body, with its number, counted from 1. ``text`` is None if the line is longer than MAX_LINE
    bytes."""

    number: int
    text: bytes | None


class LineSplitter:
    """Splits a body into lines at LF or CRLF. Blank lines are counted but not returned."""

    def __init__(self) -> None:
        self._number = 0
        self._begun = bytearray()
        self._too_long = False

    def feed(self, part: bytes) -> Iterator[Line]:
        start = 0
        while (stop := part.find(b"\n", start)) >= 0:
            yield from self._complete(part[start:stop])
            start = stop + 1
        self._keep(part[start:])

    def end(self) -> Iterator[Line]:
        if self._begun or self._too_long:
            yield from self._complete(b"")

    def _complete(self, rest: bytes) -> Iterator[Line]:
        self._keep(rest)
        self._number += 1
        text = None if self._too_long else bytes(self._begun).strip(_WHITE_SPACE)
        self._begun.clear()
        self._too_long = False
        if text != b"":
            yield Line(self._number, text)

    def _keep(self, text: bytes) -> None:
        if not self._too_long:
            self._begun += text
        if len(self._begun) > MAX_LINE + 1 or (len(self._begun) > MAX_LINE and self._begun[-1:] != b"\r"):
            self._begun.clear()
            self._too_long = True


class BodyLines:
    """The lines of a request body. The client must send each part of the body within ``seconds``."""

    def __init__(self, request: ApiRequest, seconds: float) -> None:
        self._request = request
        self._seconds = seconds
        self._splitter = LineSplitter()
        self._part = b""
        self._size = 0

    async def begin(self) -> None:
        """Read up to the first line that is not blank. Raises BadJson if all lines are blank, and the errors of
        ``read``."""
        while not self._part.strip():
            if self._request.complete:
                raise BadJson('the body is empty: send one JSON object per line, such as {"user_group_id": "acme"}')
            for _ in self._splitter.feed(self._part):  # white space only
                pass
            await self.read()

    def lines(self) -> Iterator[Line]:
        yield from self._splitter.feed(self._part)
        if self._request.complete:
            yield from self._splitter.end()

    @property
    def complete(self) -> bool:
        return self._request.complete

    async def read(self) -> None:
        """Read the next part of the body. Raises RequestTimeout, BodyTooLarge, ClientDisconnected."""
        self._part = await self._request.next_part(self._seconds)
        self._size += len(self._part)
        check_size(self._size, MAX_BULK)

    async def discard(self) -> None:
        """Read and ignore the rest of the body, within the limits for size and time."""
        with suppress(TenantryError, ClientDisconnected, DeadlineExceeded):
            await run_with_timeout(self._seconds, self._read_on())

    async def _read_on(self) -> None:
        while not self.complete and self._size <= MAX_BULK:
            await self.read()
