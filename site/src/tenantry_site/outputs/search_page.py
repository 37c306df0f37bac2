"""Splits pages into words and weights for the search index.

A word is a run of letters and digits, in lower case, without accents and width variants. Text in scripts without spaces
is cut into pairs of characters. An identifier or hyphenated word gives its parts and the whole: ``USER_GROUP_TOKEN``
and ``userGroupToken`` give ``user``, ``group``, ``token`` and ``usergrouptoken``; ``multi-tenant`` gives ``multi``,
``tenant`` and ``multitenant``. ``static/search.js`` splits a query by the same rules, and also searches for each two
adjacent words written as one.

A part of a page has up to ``SECTIONS`` sections; most pages are one part. The weight of a word in a part is BM25 with a
fixed usual length instead of the mean length, so that the weights of a page do not depend on other pages. Words of the
title add most to the weight, then those of headings, then those of the description.

A posting says in which part and section a word is, and with which weight. One character encodes weight and section, and
one or more encode the distance to the previous part; all are printable ASCII.
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
"""The weights that a posting can have; a word's weight is rounded to the nearest."""
SECTIONS = 15
"""Maximum number of sections of a part. It is limited because one character encodes both the section and the weight."""

_BOUNDS = tuple((low + high) / 2 for low, high in pairwise(LEVELS))
_FIRST = 0x21
_LAST_DIGITS = 60
_MORE_DIGITS = 34
_CHARACTERS = [chr(_FIRST + value) for value in range(_LAST_DIGITS + _MORE_DIGITS)]
CODES = len(LEVELS) * SECTIONS


def posting_code(weight: float, section: int) -> int:
    """The number below ``CODES`` that encodes a weight and a section."""
    return bisect(_BOUNDS, weight) * SECTIONS + section


def level(code: int) -> int:
    """The index in ``LEVELS`` of the weight in a code."""
    return code // SECTIONS


def gap_code(number: int) -> str:
    """A number, 0 or greater, as characters. All characters but the last are base-34 digits from a separate range,
    which shows where the number ends."""
    text = ""
    while number >= _LAST_DIGITS:
        number, digit = divmod(number - _LAST_DIGITS, _MORE_DIGITS)
        text += _CHARACTERS[_LAST_DIGITS + digit]
    return text + _CHARACTERS[number]


_GAP_CODES = [gap_code(number) for number in range(1024)]


def pack(postings: Iterable[int]) -> str:
    """Encode postings as characters. A posting is ``part * CODES + code``. Postings are in ascending order."""
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
    """Decode postings. Used only in tests; ``static/search.js`` decodes in the same way."""
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
"""Longer words are cut to this many characters: readers rarely search for words that differ only after it."""
_MAX_NAME_PARTS = 4
"""Identifiers with up to this many parts are also indexed as a whole."""

# Characters that are indexed in pairs: scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han), and
# Hangul, whose words have varying endings.
_PAIRED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PAIRED += "\U00020000-\U0003ffff"
# Vowel signs of Indic scripts. They are part of words, though Unicode does not classify them as letters.
_SIGNS = "\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_PAIRED}]|[{_SIGNS}])"

# Folding turns U+2011, the non-breaking hyphen, into U+2010.
_JOINED = re.compile(rf"[{_PAIRED}]+|{_LETTER}+(?:[_\u2010-]{_LETTER}+)*")
_JOINED_ASCII = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_PARTS = re.compile(rf"{_LETTER}+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def fold(text: str) -> str:
    """The text without accents, and with width variants replaced by normal characters. Case is kept."""
    return text if text.isascii() else normalize("NFC", _ACCENTS.sub("", normalize("NFKD", text)))


def words(text: str) -> list[str]:
    """The words of plain text, in order and with repetitions."""
    found: list[str] = []
    take = found.extend
    ascii_only = text.isascii()
    for joined in (_JOINED_ASCII if ascii_only else _JOINED).findall(text if ascii_only else fold(text)):
        take(_words_of(joined))
    return found


@lru_cache(maxsize=512)
def _words_of(joined: str) -> tuple[str, ...]:
    if joined.islower() and joined.isascii() and joined.isalpha():  # for speed: most words are plain
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
_HEADING_AS_TIMES = 3  # when the best section for a word is chosen, a heading counts as this many occurrences


@dataclass(frozen=True, slots=True)
class SearchPart:
    """A part of a page in the index.

    ``sections``: id and title of each section. ``words``: the distinct words of the part, separated by spaces.
    ``codes``: the posting code of each word, as bytes. A string and a bytes object take less memory than a dict.
    """

    path: str
    title: str
    sections: tuple[tuple[str, str], ...]
    words: str
    codes: bytes

    def weights(self) -> dict[str, int]:
        """Word -> its posting code."""
        return dict(zip(self.words.split(), self.codes, strict=True))


def search_parts(page: Page) -> tuple[SearchPart, ...]:
    """The parts of a page; none for a page with ``noindex``."""
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
        self._best: dict[str, int] = {}  # word -> its highest count in one section so far
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
