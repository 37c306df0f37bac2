"""The text of a configuration file, its values with their positions, and how messages quote them."""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from math import isfinite
from typing import Any, NamedTuple

LONGEST = 60
"""Maximum number of characters that a message quotes of a value."""

# Characters that change or hide text on a terminal: controls, bidirectional marks, invisible ones, line separators.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def safe(text: str) -> str:
    """The string, with the characters escaped that a terminal would interpret or hide."""
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or (
        f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    )


def clip(text: str, longest: int = LONGEST) -> str:
    """The string, escaped for a terminal, and cut to ``longest`` characters with ``…`` at the end."""
    return safe(text) if len(text) <= longest else safe(text[: longest - 1]) + "…"


def quoted(text: str) -> str:
    """The string in double quotes, escaped and cut by ``clip``."""
    return f'"{clip(text)}"'


def describe(value: Any) -> str:
    """A JSON value in words, for messages: ``the number 5``."""
    if isinstance(value, str):
        return f"the string {quoted(value)}" if value else "an empty string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not isfinite(value):
        return "a number too large to be read"
    if isinstance(value, (int, float)):
        return f"the number {clip(repr(value))}"
    if isinstance(value, dict):
        keys = ", ".join(quoted(key) for key in list(value)[:4]) + (", …" if len(value) > 4 else "")
        return f"an object with {keys}" if value else "an empty object"
    return f"a list of {len(value)}" if value else "an empty list"


END = "\0"
"""Added to the end of the text, so that the parser can look at the next character without checking for the end."""

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ")
"""First bytes of compressed files (gzip, zstd, xz), which may lack the zero byte by which other binary files are
recognized."""
_HEAD = 1024
_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


class SyntaxProblem(Exception):
    """A syntax error that stops parsing. Not raised outside this package."""

    def __init__(self, code: str, message: str, fix: str, offset: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.offset = offset


class SourceText:
    """The decoded text of a file, followed by ``END``.

    Offsets count characters from 0; lines and columns count from 1. ``has_bom``: a byte order mark was removed.
    ``problem``: why the text cannot be read, or None. If it cannot be read, ``text`` only serves to find the line of
    the problem.
    """

    __slots__ = ("_starts", "has_bom", "problem", "text")

    def __init__(self, given: str | bytes) -> None:
        self.problem: SyntaxProblem | None = None
        text = self._decode(given) if isinstance(given, bytes) else given
        self.has_bom: bool = text.startswith("\ufeff")
        if self.has_bom:
            text = text[1:]
        self._starts: list[int] | None = None
        self.text: str = text + END
        if self.problem is None:
            self._check_characters(text)

    def _decode(self, data: bytes) -> str:
        wide = _wide_encoding(data)
        if wide:
            self.problem = SyntaxProblem("CFG004", f"the file is encoded in {wide}", "save it as UTF-8")
            return ""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].removeprefix(BOM_UTF8).decode("utf-8", "replace")
            found = f"0x{data[error.start]:02X}"
            binary = b"\0" in data[:_HEAD] or data.startswith(_PACKED)
            fix = "is it the right file? It is not text" if binary else "save the file as UTF-8, not as Latin-1"
            self.problem = SyntaxProblem("CFG003", f"the byte {found} is not UTF-8", fix, len(before))
            return data.decode("utf-8", "replace")

    def _check_characters(self, text: str) -> None:
        half = None if text.isascii() else _SURROGATE.search(text)
        if half is not None:
            self.problem = SyntaxProblem(
                "CFG003",
                f"U+{ord(half[0]):04X} is half of a surrogate pair",
                "write the character itself",
                half.start(),
            )
            self.text = _SURROGATE.sub("\ufffd", self.text)
        elif END in text:
            self.problem = SyntaxProblem(
                "CFG005", "there is a NUL character in the file", "is this the right file? Remove it", text.index(END)
            )

    def _lines(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines(), offset)
        return line, offset - self._lines()[line - 1] + 1

    def line_at(self, offset: int) -> str:
        return self.line(self.position(offset)[0])

    def line(self, number: int) -> str:
        starts = self._lines()
        if not 0 < number <= len(starts):
            return ""
        stop = starts[number] if number < len(starts) else len(self.text) - 1
        return self.text[starts[number - 1] : stop].rstrip("\r\n")


def _wide_encoding(data: bytes) -> str:
    """``UTF-16`` or ``UTF-32`` if the first bytes show that encoding, else an empty string."""
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") or data[:3] == b"\0\0\0":
        return "UTF-32"
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "UTF-16"
    head = data[:4]
    return "UTF-16" if len(head) == 4 and (head[::2] == b"\0\0") != (head[1::2] == b"\0\0") else ""


class JsonObject(dict[str, Any]):
    """A JSON object. ``start``: offset of the opening bracket. ``offsets``: key -> the offsets of the key and of the
    value."""

    __slots__ = ("offsets", "start")

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start: int = start
        self.offsets: dict[str, tuple[int, int]] = {}


class JsonArray(list[Any]):
    """A JSON array. ``start``: offset of the opening bracket. ``offsets``: the offsets of the items."""

    __slots__ = ("offsets", "start")

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start: int = start
        self.offsets: list[int] = []


class JsonPath(NamedTuple):
    """The path of a value: the path of the object or list that contains it, that container, and the key or index. The
    root has no container."""

    parent: JsonPath | None = None
    container: JsonObject | JsonArray | None = None
    key: str | int = ""

    def child(self, container: JsonObject | JsonArray, key: str | int) -> JsonPath:
        """The path of the value at ``key`` in ``container``, the object or list at this path."""
        return JsonPath(self, container, key)

    def keys(self) -> list[str | int]:
        steps: list[str | int] = []
        location: JsonPath | None = self
        while location is not None and location.container is not None:
            steps.append(location.key)
            location = location.parent
        return steps[::-1]

    def pointer(self) -> str:
        """The JSON pointer (RFC 6901) of the value; the path may end with a key that the file does not have."""
        return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.keys())

    def display(self) -> str:
        """The path as messages show it: ``anchors[2].url``; ``the file`` for the root."""
        text = ""
        for key in self.keys():
            text += f"[{key}]" if isinstance(key, int) else ("." if text else "") + clip(key, 40)
        return text or "the file"

    def offset(self, *, of_key: bool = False) -> int:
        """The offset of the value, or of the key. If the file does not have the key, the offset of the object."""
        if isinstance(self.container, JsonObject):
            offsets = self.container.offsets.get(str(self.key))
            if offsets is not None:
                return offsets[0 if of_key else 1]
        elif self.container is not None and isinstance(self.key, int) and self.key < len(self.container.offsets):
            return self.container.offsets[self.key]
        return self.container.start if self.container is not None else 0
