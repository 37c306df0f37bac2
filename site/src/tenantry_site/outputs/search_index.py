"""The search index, which a reader's browser searches without a server and without loading all of it.

``search/index.json`` is small and says which words are in which file. ``words.….txt`` files have the postings of words;
``parts.….json`` files have the titles and sections that results show. The names of these files contain a hash of their
content, so that a browser never combines files of different builds.

A ``words`` file has a line for each word, in alphabetical order: a character for the length of the prefix that it
shares with the previous word, the rest of the word, a space, and its postings. On a large site, some words are in more
than a quarter of all parts. The line of such a word has a tab instead of the space, and only the postings of high
weight.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from tenantry_site.markdown.page_context import slug
from tenantry_site.outputs.search_page import CODES, LEVELS, SECTIONS, SearchPart, level, pack

FOLDER = "search"
INDEX = f"{FOLDER}/index.json"
_WORDS_BYTES = 8_000
_PARTS_PER_FILE = 16
_COMMON_FROM = 64  # with fewer parts, all words have all their postings
_PROMINENT = 3  # the level of weights that only words in titles and headings reach
_SHARED = "0123456789abcdefghijklmnopq"  # one character for each prefix length; words have at most 24 characters


class SearchIndex:
    """The search index of a site. An updated index gives the same files as one that is built anew.

    ``remember``: cache the packed postings of words for the next update.
    """

    def __init__(self, *, remember: bool = True) -> None:
        self._remember = remember
        self._pages: dict[str, tuple[SearchPart, ...]] = {}
        self._parts: list[SearchPart] = []
        self._labels: dict[str, str] = {}
        self._postings: dict[str, array[int]] = {}
        self._packed: dict[str, str] = {}
        self._filled = False

    def fill(self, pages: Mapping[str, tuple[SearchPart, ...]], labels: Mapping[str, str]) -> bool:
        """Index the parts of pages, in this order. Return False if nothing has changed.

        ``labels``: page -> its groups and versions, which the results show.
        """
        if pages == self._pages and list(pages) == list(self._pages) and labels == self._labels and self._filled:
            return False
        self._filled = True
        self._labels = dict(labels)
        if [(path, len(parts)) for path, parts in pages.items()] != [(p, len(o)) for p, o in self._pages.items()]:
            self._start(pages)
            return True
        number = 0
        for path, parts in pages.items():
            before = self._pages[path]
            if parts is not before:
                for offset, (old, new) in enumerate(zip(before, parts, strict=True)):
                    self._replace(number + offset, old, new)
            number += len(parts)
        self._pages = dict(pages)
        return True

    def _start(self, pages: Mapping[str, tuple[SearchPart, ...]]) -> None:
        self._pages = dict(pages)
        self._parts = [part for parts in pages.values() for part in parts]
        self._packed = {}
        found: dict[str, array[int]] = {}
        for number, part in enumerate(self._parts):
            base = number * CODES
            for word, code in zip(part.words.split(), part.codes, strict=True):
                known = found.get(word)
                if known is None:
                    found[word] = array("I", (base + code,))
                else:
                    known.append(base + code)
        self._postings = found

    def _replace(self, number: int, old: SearchPart, new: SearchPart) -> None:
        self._parts[number] = new
        base = number * CODES
        olds, news = old.weights(), new.weights()
        for word in olds.keys() | news.keys():
            before, after = olds.get(word), news.get(word)
            if before == after:
                continue
            postings = self._postings.setdefault(word, array("I"))
            at = bisect_left(postings, base)
            if before is not None:
                del postings[at]
            if after is not None:
                postings.insert(at, base + after)
            if not postings:
                del self._postings[word]
            self._packed.pop(word, None)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Path and content of the files of the index; ``index.json``, which names the others, is last."""
        words, parts = [], []
        for first, content in _shards(self._lines()):
            name = f"words.{_content_hash(content)}.txt"
            words.append([first, name])
            yield f"{FOLDER}/{name}", content
        for start in range(0, len(self._parts), _PARTS_PER_FILE):
            content = self._shown(self._parts[start : start + _PARTS_PER_FILE])
            name = f"parts.{_content_hash(content)}.json"
            parts.append(name)
            yield f"{FOLDER}/{name}", content
        yield (
            INDEX,
            _json(
                {
                    "count": len(self._parts),
                    "each": _PARTS_PER_FILE,
                    "sections": SECTIONS,
                    "levels": LEVELS,
                    "words": words,
                    "parts": parts,
                }
            ),
        )

    def _lines(self) -> Iterator[tuple[str, str]]:
        common = len(self._parts) // 4 if len(self._parts) >= _COMMON_FROM else len(self._parts)
        for word in sorted(self._postings):
            packed = self._packed.get(word)
            if packed is None:
                packed = _packed(self._postings[word], common)
                if self._remember:
                    self._packed[word] = packed
            yield word, packed

    def _shown(self, parts: Iterable[SearchPart]) -> bytes:
        shown = []
        for part in parts:
            # An id that is the slug of its title is left out: the script derives it from the title
            sections = [title if slug(title) == name else [title, name] for name, title in part.sections]
            shown.append([part.path, part.title, self._labels.get(part.path, ""), *sections])
        return _json(shown)


def _packed(postings: array[int], common: int) -> str:
    if len(postings) <= common:
        return " " + pack(postings)
    return "\t" + pack(posting for posting in postings if level(posting % CODES) >= _PROMINENT)


def _shards(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Yield the first word and the content of each ``words`` file."""
    first, before, size = "", "", 0
    pieces: list[str] = []
    for word, packed in lines:
        if size >= _WORDS_BYTES:
            yield first, "".join(pieces).encode("utf-8", "replace")
            pieces, before, size = [], "", 0
        if not pieces:
            first = word
        shared = _shared(before, word)
        line = f"{_SHARED[shared]}{word[shared:]}{packed}\n"
        pieces.append(line)
        size += len(line)
        before = word
    if pieces:
        yield first, "".join(pieces).encode("utf-8", "replace")


def _shared(before: str, word: str) -> int:
    for at, (left, right) in enumerate(zip(before, word, strict=False)):
        if left != right:
            return at
    return min(len(before), len(word))


def _content_hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:8]


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
