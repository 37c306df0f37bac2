"""What the search stores of a page: the words of its text, in parts of a few sections each.

A word is a run of letters and digits, folded: without case, without accents, of one width. Scripts that are written
without spaces are cut into pairs. A name of code, or a word with hyphens, is found by its parts and as a whole, however
it is written: ``USER_GROUP_TOKEN`` and ``userGroupToken`` give ``user``, ``group``, ``token`` and ``usergrouptoken``,
``multi-tenant`` gives ``multi``, ``tenant`` and ``multitenant``. ``static/search.js`` cuts a query by the same rules,
and takes two words of it that follow one another for one as well.

A page is a part; a long one is several, so that its words are not outweighed by its length and every section can be led
to. How much a word counts follows BM25 with the length of a usual part instead of the mean: so the parts of one page do
not depend on the others. The title counts most, then headings, then description and text.

A posting says in which part a word is, how much it counts there, and under which heading: one character for weight and
section, and one or more for the distance to the part before. The characters are those of ASCII that can be seen.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

from tenantry_site.page import Page, Section

LEVELS = (0.6, 1.1, 1.7, 2.6, 4.2, 7.0)
"""What a word counts in a part, on a coarse scale."""
SECTIONS = 15
"""Sections that one part may have: with the levels, as many as one character tells apart."""

_BOUNDS = tuple((low + high) / 2 for low, high in pairwise(LEVELS))
_FIRST = 0x21
_LAST_DIGITS = 60
_MORE_DIGITS = 34
_CHARACTERS = [chr(_FIRST + value) for value in range(_LAST_DIGITS + _MORE_DIGITS)]
CODES = len(LEVELS) * SECTIONS


def posting_code(weight: float, section: int) -> int:
    """Weight and section as one number below ``CODES``."""
    return bisect(_BOUNDS, weight) * SECTIONS + section


def level(code: int) -> int:
    """The index of the weight on the scale."""
    return code // SECTIONS


def gap_code(number: int) -> str:
    """A number from 0 in base 34; non-final digits have separate characters."""
    text = ""
    while number >= _LAST_DIGITS:
        number, digit = divmod(number - _LAST_DIGITS, _MORE_DIGITS)
        text += _CHARACTERS[_LAST_DIGITS + digit]
    return text + _CHARACTERS[number]


_GAP_CODES = [gap_code(number) for number in range(1024)]


def pack(postings: Iterable[int]) -> str:
    """Encode postings, each ``part * CODES + code``, in order of parts."""
    pieces: list[str] = []
    before = -1
    for posting in postings:
        part, code = divmod(posting, CODES)
        gap = part - before - 1
        pieces.append(_CHARACTERS[code])
        pieces.append(_GAP_CODES[gap] if gap < 1024 else gap_code(gap))
        before = part
    return "".join(pieces)


def unpack(text: str) -> array[int]:
    """Decode postings; used by tests, and the specification for the script."""
    found: array[int] = array("L")
    part, at = -1, 0
    while at < len(text):
        code = ord(text[at]) - _FIRST
        at += 1
        gap, factor, step = 0, 1, 0
        while (step := ord(text[at]) - _FIRST) >= _LAST_DIGITS:
            gap += step * factor
            factor *= _MORE_DIGITS
            at += 1
        gap += step * factor
        at += 1
        part += gap + 1
        found.append(part * CODES + code)
    return found


MAX_WORD_LENGTH = 24
"""Characters of a word that count: what follows tells no two words apart that a reader would type."""
_MAX_NAME_PARTS = 4
"""Of a name that is indexed as a whole too."""

# Scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han) and Hangul, whose words have endings.
_PAIRED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PAIRED += "\U00020000-\U0003ffff"
# The vowel signs of India's scripts are marks, not letters, and within words.
_SIGNS = "\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_PAIRED}]|[{_SIGNS}])"

# U+2010 is also what the folding makes of a hyphen at which no line breaks.
_JOINED = re.compile(rf"[{_PAIRED}]+|{_LETTER}+(?:[_\u2010-]{_LETTER}+)*")
_JOINED_ASCII = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_PARTS = re.compile(rf"{_LETTER}+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def fold(text: str) -> str:
    """The text without accents and width variants; case is kept."""
    return text if text.isascii() else normalize("NFC", _ACCENTS.sub("", normalize("NFKD", text)))


def words(text: str) -> list[str]:
    """The words of a text in order, with repetitions; an identifier gives its parts and itself."""
    found: list[str] = []
    take = found.extend
    ascii_only = text.isascii()
    for joined in (_JOINED_ASCII if ascii_only else _JOINED).findall(text if ascii_only else fold(text)):
        take(_words_of(joined))
    return found


@lru_cache(maxsize=512)
def _words_of(joined: str) -> tuple[str, ...]:
    if joined.islower() and joined.isascii() and joined.isalpha():  # most of any text
        return (joined[:MAX_WORD_LENGTH],)
    if re.match(f"[{_PAIRED}]", joined):
        return tuple(joined[at : at + 2] for at in range(len(joined) - 1)) if len(joined) > 1 else (joined,)
    parts = [part.lower()[:MAX_WORD_LENGTH] for part in _PARTS.findall(_HUMP.sub("_", joined))]
    whole = "".join(parts)
    if 1 < len(parts) <= _MAX_NAME_PARTS and len(whole) <= MAX_WORD_LENGTH:
        parts.append(whole)
    return tuple(parts)


_USUAL_LENGTH = 300
_SATURATION = 1.2
_LENGTH_COUNTS = 0.6
_TITLE, _HEADING, _DESCRIPTION = 6.0, 2.4, 1.2
_HEADING_AS_TIMES = 3  # a section that is about a word beats one that mentions it twice


@dataclass(frozen=True, slots=True)
class SearchPart:
    """A part of a page.

    ``sections``: ids and titles; ``words``: separated by spaces; ``codes``: weight and section of each word. Strings
    save memory: a site has one word entry for each word of its pages.
    """

    path: str
    title: str
    sections: tuple[tuple[str, str], ...]
    words: str
    codes: bytes

    def weights(self) -> dict[str, int]:
        """The code of each word."""
        return dict(zip(self.words.split(), self.codes, strict=True))


def search_parts(page: Page) -> tuple[SearchPart, ...]:
    """The parts of a page; none with ``noindex``."""
    if page.front.noindex:
        return ()
    sections = page.sections or (Section("", "", ""),)
    return tuple(
        _part(page, sections[start : start + SECTIONS], first=not start) for start in range(0, len(sections), SECTIONS)
    )


def _part(page: Page, sections: Sequence[Section], *, first: bool) -> SearchPart:
    counts = _WordCounts()
    for number, section in enumerate(sections):
        counts.section(number, section)
    if first:
        counts.add_extra(words(f"{page.title} {page.front.sidebar_title}"), _TITLE)
        counts.add_extra(
            words(" ".join((page.front.description, *page.front.keywords, *page.front.tags))), _DESCRIPTION
        )
    titles = tuple((section.id, section.title) for section in sections)
    codes = counts.codes()
    return SearchPart(page.path, page.title, titles, " ".join(codes), bytes(codes.values()))


class _WordCounts:
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

    def add_extra(self, found: list[str], weight: float) -> None:
        for word in set(found):
            self._extra[word] = self._extra.get(word, 0) + weight

    def codes(self) -> dict[str, int]:
        ground = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * self._length / _USUAL_LENGTH)
        sections = self._sections
        by_count = {
            count: posting_code(count * (1 + _SATURATION) / (count + ground), 0) for count in set(self._counts.values())
        }
        found = {word: by_count[count] + sections[word] for word, count in self._counts.items()}
        for word, weight in self._extra.items():
            count = self._counts.get(word, 0)
            found[word] = posting_code(count * (1 + _SATURATION) / (count + ground) + weight, sections.get(word, 0))
        return found
