"""ExpandedSource: SQL with its fragments, where each offset maps to the file that it comes from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tenantry.errors import Location, TemplateError
from tenantry.sql.source import Source


class Segment(NamedTuple):
    """Where a part of an expanded source comes from."""

    start: int
    """Offset at which the part begins."""
    source: Source
    offset: int
    """Offset of its first character in ``source``."""
    included_at: Location | None = None
    exact: bool = True
    """Whether each character maps to its own offset in ``source``; if not, all map to ``offset``."""


class ExpandedSource(Source):
    """Expanded SQL. Its locations and errors are those of the files that it comes from."""

    __slots__ = ("_commas", "_segments", "_starts")

    def __init__(self, text: str, segments: Sequence[Segment], commas: Iterable[int] = ()) -> None:
        self._segments = tuple(segments)
        self._starts = [segment.start for segment in segments]
        self._commas = frozenset(commas)
        super().__init__(text, segments[0].source.file if segments else "")

    @property
    def commas(self) -> frozenset[int]:
        """Offsets of commas that were outside of tags before the expansion."""
        return self._commas

    def location(self, offset: int) -> Location:
        """Return the line, column and file of the origin, and the location of the tag that included it."""
        segment = self.segment(offset)
        return replace(segment.source.location(segment.offset), included_at=segment.included_at)

    def error(self, offset: int, problem: str, fix: str, included_at: Location | None = None) -> TemplateError:
        """Return a TemplateError that shows the line of the origin, and the tags that included it."""
        segment = self.segment(offset)
        return segment.source.error(segment.offset, problem, fix, segment.included_at or included_at)

    def segment(self, offset: int) -> Segment:
        """Return the segment that begins at an offset of the expanded SQL."""
        found = self._segments[max(0, bisect_right(self._starts, offset) - 1)]
        return found._replace(start=offset, offset=found.offset + (offset - found.start if found.exact else 0))


class ExpandedText:
    """Builds an ExpandedSource."""

    def __init__(self) -> None:
        self.length: int = 0
        self._parts: list[str] = []
        self._segments: list[Segment] = []
        self._commas: list[int] = []

    def add(self, text: str, segment: Segment, commas: Iterable[int] = ()) -> None:
        """Append SQL with its origin; ``commas`` are offsets in that SQL."""
        self._segments.append(segment._replace(start=self.length))
        self._commas += [self.length + offset for offset in commas]
        self._parts.append(text)
        self.length += len(text)

    def source(self) -> ExpandedSource:
        return ExpandedSource("".join(self._parts), self._segments, self._commas)
