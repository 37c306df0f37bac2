"""Source: the text of a configuration file and the places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

END = "\0"
"""Stands after the last character, so that a reader need not ask whether there is one more."""

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ")
"""Beginnings of compressed files, which may have no zero byte."""
_HEAD = 1024
_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """The file cannot be read further, and why. It does not leave this package."""

    def __init__(self, code: str, message: str, fix: str, offset: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.offset = offset


class Source:
    """Text with an ``END`` after it. Offsets count characters from 0; lines and columns from 1.

    ``marked`` says that a byte order mark was taken off. ``problem`` is what keeps the text from being read at all;
    ``text`` is then as near to it as can be, for the place.
    """

    __slots__ = ("_starts", "marked", "problem", "text")

    def __init__(self, given: str | bytes) -> None:
        self.problem: Unreadable | None = None
        text = self._decode(given) if isinstance(given, bytes) else given
        self.marked = text.startswith("\ufeff")
        if self.marked:
            text = text[1:]
        self._starts: list[int] | None = None
        self.text = text + END
        if self.problem is None:
            self._look(text)

    def _decode(self, data: bytes) -> str:
        wide = _wide(data)
        if wide:
            self.problem = Unreadable(
                "CFG004", f"the file is in {wide}, where every second or fourth byte is zero", "save it as UTF-8"
            )
            return ""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].removeprefix(BOM_UTF8).decode("utf-8", "replace")
            found = f"0x{data[error.start]:02X}"
            binary = b"\0" in data[:_HEAD] or data.startswith(_PACKED)
            fix = "is it the right file? It is no text" if binary else "save the file as UTF-8, not as Latin-1"
            self.problem = Unreadable("CFG003", f"the byte {found} is not UTF-8", fix, len(before))
            return data.decode("utf-8", "replace")

    def _look(self, text: str) -> None:
        half = None if text.isascii() else _SURROGATE.search(text)
        if half is not None:
            self.problem = Unreadable(
                "CFG003", f"U+{ord(half[0]):04X} is half of a character", "write the whole character", half.start()
            )
            self.text = _SURROGATE.sub("\ufffd", self.text)
        elif END in text:
            self.problem = Unreadable(
                "CFG005", "there is a NUL character in the file", "is this the right file? Remove it", text.index(END)
            )

    def _lines(self) -> list[int]:
        """The offsets at which lines begin."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._lines(), offset)
        return line, offset - self._lines()[line - 1] + 1

    def line(self, offset: int) -> str:
        """The line in which an offset stands, without its end."""
        return self.numbered(self.place(offset)[0])

    def numbered(self, line: int) -> str:
        """The line of a number, without its end; nothing if there is none."""
        starts = self._lines()
        if not 0 < line <= len(starts):
            return ""
        stop = starts[line] if line < len(starts) else len(self.text) - 1
        return self.text[starts[line - 1] : stop].rstrip("\r\n")


def _wide(data: bytes) -> str:
    """``UTF-16`` or ``UTF-32`` where the first bytes say so, else nothing."""
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") or data[:3] == b"\0\0\0":
        return "UTF-32"
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "UTF-16"
    head = data[:4]
    return "UTF-16" if len(head) == 4 and (head[::2] == b"\0\0") != (head[1::2] == b"\0\0") else ""
