"""Expanded sources, which map each character to the text that it comes from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tenantry.errors import Location, TemplateError
from tenantry.sql.source import Source


class Segment(NamedTuple):
    """The origin of a stretch. ``exact``: every character maps, not only the first."""

    start: int
    source: Source
    offset: int
    included_at: Location | None = None
    exact: bool = True


class ExpandedSource(Source):
    """An expanded text whose locations and errors are those of its origins."""

    __slots__ = ("_commas", "_segments", "_starts")

    def __init__(self, text: str, segments: Sequence[Segment], commas: Iterable[int] = ()) -> None:
        self._segments = tuple(segments)
        self._starts = [segment.start for segment in segments]
        self._commas = frozenset(commas)
        super().__init__(text, segments[0].source.file if segments else "")

    @property
    def commas(self) -> frozenset[int]:
        """Offsets of commas that end no argument, in texts of sets."""
        return self._commas

    def location(self, offset: int) -> Location:
        """Return the origin's line, column and file, and what included it."""
        segment = self.segment(offset)
        return replace(segment.source.location(segment.offset), included_at=segment.included_at)

    def error(self, offset: int, problem: str, fix: str, included_at: Location | None = None) -> TemplateError:
        """Return a TemplateError that shows the origin's line and what included it."""
        segment = self.segment(offset)
        return segment.source.error(segment.offset, problem, fix, segment.included_at or included_at)

    def segment(self, offset: int) -> Segment:
        """Return the origin of an offset."""
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
        """Append a text with its origin; ``commas`` are offsets in it."""
        self._segments.append(segment._replace(start=self.length))
        self._commas += [self.length + offset for offset in commas]
        self._parts.append(text)
        self.length += len(text)

    def source(self) -> ExpandedSource:
        """Return the source so far."""
        return ExpandedSource("".join(self._parts), self._segments, self._commas)
