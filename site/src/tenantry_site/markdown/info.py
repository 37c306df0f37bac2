"""Info: what stands behind the backticks of a block of code - language, title, and lines to mark."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_LINES = 100_000

_FIRST = re.compile(r"[^\s{]+")
_PART = re.compile(
    r"""([A-Za-z][\w-]*)=(?:"([^"]*)"|'([^']*)'|\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|([^\s{}"']+))|\{([\d\s,-]*)\}|"([^"]*)"|(\S+)"""
)
_RANGE = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_TITLES = frozenset({"title", "filename", "file", "name"})
_MARKS = frozenset({"highlight", "hl_lines", "mark"})
_NUMBERS = frozenset({"lines", "linenumbers", "showlinenumbers", "linenos"})
_WRAPS = frozenset({"wrap", "wordwrap"})
_SILENT = frozenset({"expandable", "copy", "nocopy", "twoslash", "live", "editable", "default", "ts"})


class Info(NamedTuple):
    """The parts of an info string. ``marked`` are lines, from 1."""

    language: str = ""
    title: str = ""
    marked: frozenset[int] = frozenset()
    numbered: bool = False
    wrapped: bool = False


PLAIN = Info()


def read_info(text: str) -> Info:
    """````` ```python title.py {1,3-5} wrap ````` without its backticks."""
    text = text.strip()[:2000]
    if not text:
        return PLAIN
    first = _FIRST.match(text)
    if first is None or "=" in first[0]:
        language, rest = "", text
    else:
        language, rest = first[0].lower(), text[first.end() :].strip()
    if not rest:
        return Info(language)
    reader = _Reader()
    for part in _PART.finditer(rest):
        reader.take(part)
    return Info(language, reader.title or " ".join(reader.words), frozenset(reader.marked), *reader.switches)


class _Reader:
    """Takes the parts behind the language."""

    def __init__(self) -> None:
        self.title = ""
        self.words: list[str] = []
        self.marked: set[int] = set()
        self.switches = [False, False]

    def take(self, part: re.Match[str]) -> None:
        name = (part[1] or part[8] or "").lower()
        value = part[2] or part[3] or part[4] or part[5] or ""
        if part[6] is not None or name in _MARKS:
            self.marked |= _lines(part[6] if part[6] is not None else value)
        elif part[1] and name in _TITLES:
            self.title = value.strip("\"'`")
        elif name in _NUMBERS:
            self.switches[0] = value != "false"
        elif name in _WRAPS:
            self.switches[1] = value != "false"
        elif (part[7] or part[8]) and name not in _SILENT:
            self.words.append(part[7] or part[8])


def _lines(text: str) -> set[int]:
    lines: set[int] = set()
    for found in _RANGE.finditer(text):
        first = int(found[1])
        last = min(int(found[2] or first), first + 10_000)
        if len(lines) < MOST_LINES:
            lines.update(range(first, last + 1))
    return lines
