from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tenantry.errors import Edit, Location, TemplateError

MAX_TEXT = 256 * 1024
"""Maximum number of characters in a template."""

_SHOWN = 100  # an error shows this many characters of a long line


class Source:
    """The text of a template. Offsets count from 0, lines and columns from 1.

    Errors show ``file``. Raises TemplateError if ``text`` has more than ``longest`` characters, or contains a NUL or a
    lone surrogate.
    """

    __slots__ = ("file", "text")

    def __init__(self, text: str, file: str = "", *, longest: int = MAX_TEXT) -> None:
        self.text: str = text
        self.file: str = file
        if len(text) > longest:
            head = f"{file}: " if file else ""
            raise TemplateError(
                f"{head}a SQL template is at most {longest} characters long, but this one has {len(text)}"
            )
        if text.isascii() and "\0" not in text:
            return
        for offset, character in enumerate(text):
            if character == "\0" or "\ud800" <= character <= "\udfff":
                raise self.error(offset, "SQL cannot contain a NUL or a lone surrogate", "remove the character")

    @property
    def commas(self) -> frozenset[int]:
        """Offsets of the commas in included SQL. These commas never separate arguments of a filter."""
        return frozenset()

    def location(self, offset: int) -> Location:
        start = self.text.rfind("\n", 0, offset) + 1
        return Location(self.text.count("\n", 0, offset) + 1, offset - start + 1, self.file)

    def error(
        self,
        offset: int,
        problem: str,
        fix: str,
        included_at: Location | None = None,
        *,
        variable: str = "",
        edit: Edit | None = None,
    ) -> TemplateError:
        """Return a TemplateError that shows the line with a caret at ``offset``, the fix, and the tags that included
        this source."""
        location = self.location(offset)
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
        column = offset - start
        if column > _SHOWN // 2:  # cut the beginning of the line, so that the caret is visible
            cut = column - _SHOWN // 2
            line, column = "…" + line[cut:], column - cut + 1
        line = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line[:_SHOWN])
        caret = "".join(map(_blank, line[:column])) + "^"
        message = f"{location}: {problem}\n    {line}\n    {caret}\n  fix: {fix}"
        outer = included_at
        while outer is not None:
            message += f"\n  included at {replace(outer, included_at=None)}"
            outer = outer.included_at
        location = replace(location, included_at=included_at)
        return TemplateError(message, location=location, problem=problem, fix=fix, variable=variable, edit=edit)


def _blank(character: str) -> str:
    # On a terminal, a combining character has no column, and a wide one has two.
    if character == "\t":
        return character
    if unicodedata.category(character) in {"Mn", "Me"}:
        return ""
    return "  " if unicodedata.east_asian_width(character) in {"W", "F"} else " "


# --- SQL with included fragments --------------------------------------------------------------------------------------


class Segment(NamedTuple):
    """A part of an ExpandedSource that comes from one source."""

    start: int
    """Offset of the part's first character in the ExpandedSource."""
    source: Source
    offset: int
    """Offset of the part's first character in ``source``."""
    included_at: Location | None = None
    exact: bool = True
    """Whether each character of the part has an offset in ``source``. If False, errors about any character show the
    location of ``offset``."""


class ExpandedSource(Source):
    """The SQL of a template and of the fragments in it. An error names the file with the problem, and the tag that
    included this file."""

    __slots__ = ("_commas", "_segments", "_starts")

    def __init__(self, text: str, segments: Sequence[Segment], commas: Iterable[int] = ()) -> None:
        self._segments = tuple(segments)
        self._starts = [segment.start for segment in segments]
        self._commas = frozenset(commas)
        super().__init__(text, segments[0].source.file if segments else "")

    @property
    def commas(self) -> frozenset[int]:
        return self._commas

    def location(self, offset: int) -> Location:
        segment = self.segment(offset)
        return replace(segment.source.location(segment.offset), included_at=segment.included_at)

    def error(
        self,
        offset: int,
        problem: str,
        fix: str,
        included_at: Location | None = None,
        *,
        variable: str = "",
        edit: Edit | None = None,
    ) -> TemplateError:
        segment = self.segment(offset)
        outer = segment.included_at or included_at
        return segment.source.error(segment.offset, problem, fix, outer, variable=variable, edit=edit)

    def segment(self, offset: int) -> Segment:
        """Return the segment at an offset of the expanded SQL, cut so that it begins at the offset."""
        found = self._segments[max(0, bisect_right(self._starts, offset) - 1)]
        return found._replace(start=offset, offset=found.offset + (offset - found.start if found.exact else 0))


class ExpandedText:
    def __init__(self) -> None:
        self.length: int = 0
        self._parts: list[str] = []
        self._segments: list[Segment] = []
        self._commas: list[int] = []

    def add(self, text: str, segment: Segment, commas: Iterable[int] = ()) -> None:
        """Append SQL that comes from ``segment``. ``commas`` are the offsets of the commas in this SQL."""
        self._segments.append(segment._replace(start=self.length))
        self._commas += [self.length + offset for offset in commas]
        self._parts.append(text)
        self.length += len(text)

    def source(self) -> ExpandedSource:
        return ExpandedSource("".join(self._parts), self._segments, self._commas)
