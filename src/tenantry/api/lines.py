"""LineSplitter: cuts what arrives of a body into lines, and holds at most one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_LINE: Final = 64 * 1024
"""Bytes of a line, without its end."""

_WHITE_SPACE: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """The line with this number, the first being 1. ``text`` is None where it has more than MAX_LINE bytes."""

    number: int
    text: bytes | None


class LineSplitter:
    """``feed`` gives the lines that are complete with another part of the body, ``end`` the last one. Lines end with LF
    or CRLF; those of white space alone count and are not given, as NDJSON has it. A line that is too long is dropped
    while it arrives."""

    def __init__(self) -> None:
        self._number = 0
        self._begun = bytearray()
        self._too_long = False

    def feed(self, part: bytes) -> Iterator[Line]:
        """The lines that end within this part."""
        start = 0
        while (stop := part.find(b"\n", start)) >= 0:
            yield from self._complete(part[start:stop])
            start = stop + 1
        self._keep(part[start:])

    def end(self) -> Iterator[Line]:
        """The last line, if it did not end with a line feed."""
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
