"""Digest: what the search keeps of a page, in parts of a few sections each.

A page is a part; a long one is several, so that its words do not drown in its length and every section can be led to.
How much a word counts follows BM25 with the length of a usual part in place of the mean: so the digest of one page does
not depend on the others. The title counts most, then headings, then description and text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tenantry_site.nodes import Section
from tenantry_site.outputs.postings import SECTIONS, code
from tenantry_site.outputs.words import words
from tenantry_site.page import Page

_USUAL_LENGTH = 300
_SATURATION = 1.2
_LENGTH_COUNTS = 0.6
_TITLE, _HEADING, _DESCRIPTION = 6.0, 2.4, 1.2
_HEADING_AS_TIMES = 3  # a section that is about a word beats one that mentions it twice


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: ``sections`` are ids and titles; ``words`` its words, a space between two, and ``codes`` the
    weight and section of each. In so few objects, for a site has as many of them as words on all its pages."""

    path: str
    title: str
    sections: tuple[tuple[str, str], ...]
    words: str
    codes: bytes

    def weights(self) -> dict[str, int]:
        """The code of each word."""
        return dict(zip(self.words.split(), self.codes, strict=True))


def digest(page: Page) -> tuple[Part, ...]:
    """The parts of a page; none if it asked not to be found."""
    if page.front.noindex:
        return ()
    sections = page.sections or (Section("", "", ""),)
    return tuple(
        _part(page, sections[start : start + SECTIONS], first=not start) for start in range(0, len(sections), SECTIONS)
    )


def _part(page: Page, sections: Sequence[Section], *, first: bool) -> Part:
    tally = _Tally()
    for number, section in enumerate(sections):
        tally.section(number, section)
    if first:
        tally.also(words(f"{page.title} {page.front.sidebar_title}"), _TITLE)
        tally.also(words(" ".join((page.front.description, *page.front.keywords, *page.front.tags))), _DESCRIPTION)
    titles = tuple((section.id, section.title) for section in sections)
    codes = tally.codes()
    return Part(page.path, page.title, titles, " ".join(codes), bytes(codes.values()))


class _Tally:
    """Counts the words of one part."""

    __slots__ = ("_best", "_counts", "_extra", "_length", "_sections")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._best: dict[str, int] = {}  # the most of one section so far
        self._sections: dict[str, int] = {}
        self._extra: dict[str, float] = {}
        self._length = 0

    def section(self, number: int, section: Section) -> None:
        counts = Counter(words(section.text))
        self._length += counts.total()
        known, best, sections = self._counts, self._best, self._sections
        for word, count in counts.items():
            if count > best.get(word, 0):
                best[word], sections[word] = count, number
            known[word] = known.get(word, 0) + count
        for word in set(words(section.title)):
            self._extra[word] = _HEADING
            count = counts[word] + _HEADING_AS_TIMES
            if count > best.get(word, 0):
                best[word], sections[word] = count, number

    def also(self, found: list[str], weight: float) -> None:
        for word in set(found):
            self._extra[word] = self._extra.get(word, 0) + weight

    def codes(self) -> dict[str, int]:
        ground = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * self._length / _USUAL_LENGTH)
        sections = self._sections
        by_count = {
            count: code(count * (1 + _SATURATION) / (count + ground), 0) for count in set(self._counts.values())
        }
        found = {word: by_count[count] + sections[word] for word, count in self._counts.items()}
        for word, weight in self._extra.items():
            count = self._counts.get(word, 0)
            found[word] = code(count * (1 + _SATURATION) / (count + ground) + weight, sections.get(word, 0))
        return found
