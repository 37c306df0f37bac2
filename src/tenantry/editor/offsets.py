"""Converts positions between Python (indexes of characters) and the page (offsets in UTF-16 code units, from 0)."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

_OF_TWO_UNITS: Final = re.compile("[\U00010000-\U0010ffff]")


class Utf16Text:
    def __init__(self, text: str) -> None:
        self.text: Final = text
        self._wide = [] if text.isascii() else [found.start() for found in _OF_TWO_UNITS.finditer(text)]
        self._lines: list[int] | None = None

    def offset(self, index: int) -> int:
        return index + bisect_left(self._wide, index)

    def span(self, start: int, end: int) -> dict[str, int]:
        """Return the offsets ``from`` and ``to`` of the characters between two indexes."""
        return {"from": self.offset(start), "to": self.offset(end)}

    def index(self, line: int, column: int) -> int:
        """Return the index of the character at a line and column, both counted from 1. For a position outside the text,
        return the nearest one in it."""
        if self._lines is None:
            self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        if not 0 < line <= len(self._lines):
            return 0 if line <= 0 else len(self.text)
        start = self._lines[line - 1]
        end = self._lines[line] - 1 if line < len(self._lines) else len(self.text)
        return min(start + max(column - 1, 0), end)
