"""The report for a person: one paragraph for each diagnostic, as compilers write them, with the source line and a caret
under the position, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from unicodedata import east_asian_width

from tenantry_site.config.quoting import clip, safe
from tenantry_site.config.source import SourceText
from tenantry_site.diagnostic import Diagnostic, Severity

Sources = Mapping[str, str | bytes]
"""The texts of files by their paths."""

_WIDTH = 100
"""Characters of a line that are shown."""


class Excerpts:
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


_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """``2 errors, 1 warning``, or ``nothing to say``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [f"{counts[level]} {word}{'s' * (counts[level] != 1)}" for level, word in _WORDS.items() if counts[level]]
    return ", ".join(parts) or "nothing to say"


_LONGEST = 100
"""Characters of a pointer that are shown."""


def write_text(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """``path:line:column: severity code: message``, the line with a caret under the place, and ``fix:``.

    Where the column is not known, it and the caret are left out.
    ``name`` stands where a diagnostic has no path. ``sources`` has the texts of files by their paths, for the lines.
    Nothing of a file that commands a terminal reaches it.
    """
    found = list(diagnostics)
    excerpts = Excerpts(sources)
    text: list[str] = []
    for one in found:
        path = one.path or name
        place = "".join(f":{number}" for number in (one.line, one.column) if number)
        pointer = f" [{clip(one.pointer, _LONGEST)}]" if one.pointer else ""
        text.append(f"{safe(path) or '-'}{place}: {one.severity} {one.code}: {safe(one.message)}{pointer}")
        text += _excerpt(excerpts, path, one)
        if one.fix:
            text.append(f"    fix: {safe(one.fix)}")
    return "\n".join([*text, summary(found)]) + "\n"


def _excerpt(excerpts: Excerpts, path: str, one: Diagnostic) -> list[str]:
    """The line of the file, and a caret under the column."""
    before, after = excerpts.around(path, one.line, one.column)
    if not (before + after).strip():
        return []
    width = sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    line = f"{one.line:>6} | {before}{after}"
    return [line, f"{'':>6} | {' ' * width}^"] if one.column else [line]
