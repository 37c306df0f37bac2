"""Lines: what stands in a file around a place, short and safe to print."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry_site.config.quoting import safe
from tenantry_site.config.source import SourceText

Sources = Mapping[str, str | bytes]
"""The texts of files by their paths."""

_WIDTH = 100
"""Characters of a line that are shown."""


class Lines:
    """The lines of some files; each is taken apart when it is first asked for."""

    __slots__ = ("_given", "_read")

    def __init__(self, sources: Sources | None) -> None:
        self._given = sources or {}
        self._read: dict[str, SourceText] = {}

    def around(self, path: str, line: int, column: int) -> tuple[str, str]:
        """What stands in the line before the column and from it on; nothing for a file or a line that is not there."""
        if path not in self._given or line < 1:
            return "", ""
        if path not in self._read:
            self._read[path] = SourceText(self._given[path])
        text = self._read[path].line(line)
        at = max(0, column - 1)
        start = max(0, at - _WIDTH // 2) if at > _WIDTH * 3 // 4 else 0
        before, after = (_plain(part) for part in (text[start:at], text[at : start + _WIDTH]))
        return ("…" if start else "") + before, after + ("…" if start + _WIDTH < len(text) else "")


def _plain(text: str) -> str:
    """The text on one line, with tabs as blanks: a caret stands under it."""
    return safe(text.replace("\t", " "))
