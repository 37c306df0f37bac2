"""Suggestions for misspelled names and paths ("did you mean …?")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import basename, commonprefix, dirname

_SEPARATORS = re.compile(r"[-_\s]+")
_LONGEST_NAME = 100
"""Maximum number of characters of a name that is compared. Longer names are unlikely to be typing errors."""

_MAX_COMPARISONS = 50
"""Maximum number of missing paths whose spelling is compared with the known paths, which limits the work for a site
with many wrong paths."""
_FEW_PATHS = 1000
"""Up to this many known paths, a missing path is compared with all of them; above it, only with those in its folder."""
_MAX_EDITS = 3
_PAGE_SUFFIXES = (".mdx", ".md", ".html")
_FIRST_PAGES = frozenset({"overview", "introduction", "quickstart", "index"})
"""Page names that are suggested first for a link to a folder."""


def normalize(text: str) -> str:
    """The text in lower case, without ``-``, ``_`` and spaces."""
    return _SEPARATORS.sub("", text).lower()


def edit_distance(one: str, other: str, most: int) -> int:
    """The number of insertions, deletions, replacements and swaps of adjacent characters that turn one string into
    the other; ``most + 1`` if it is greater than ``most`` or ``one`` is longer than 100 characters."""
    if abs(len(one) - len(other)) > most or len(one) > _LONGEST_NAME:
        return most + 1
    shared = len(commonprefix((one, other)))
    one, other = one[shared:], other[shared:]
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1] if one else len(other)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that needs the fewest edits: at most two, and at most a third of the candidate's length. None if
    there is no such candidate. Case, ``-``, ``_`` and spaces are ignored."""
    plain = normalize(name)
    best: tuple[int, str] | None = None
    for candidate in candidates:
        most = min(2, len(candidate) // 3)
        edits = edit_distance(plain, normalize(candidate), most)
        if edits <= most and (best is None or edits < best[0]):
            best = (edits, candidate)
    return best[1] if best else None


class PathSuggestions:
    """Suggests a known path for a path that does not exist.

    A file of the same name in another folder is preferred to one with a similar name, because pages are often moved.
    """

    __slots__ = ("_by_folder", "_by_lower", "_by_name", "_compared", "_found", "paths")

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: frozenset[str] = frozenset(paths)
        self._by_lower: dict[str, str] | None = None
        self._by_folder: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        self._found: dict[str, str | None] = {}
        self._compared = 0

    def other_case(self, path: str) -> str | None:
        """The known path that equals ``path`` when case is ignored; else None."""
        return self._index().get(path.lower())

    def find(self, wanted: str) -> str | None:
        """The most similar known path, or None if none is similar enough."""
        if wanted not in self._found:
            self._index()
            self._found[wanted] = self._find(wanted)
        return self._found[wanted]

    def _index(self) -> dict[str, str]:
        """Lower-case path -> path. The first call builds this and the other indexes."""
        if self._by_lower is None:
            ordered = sorted(self.paths)
            self._by_lower = {path.lower(): path for path in ordered}
            for path in ordered:
                self._by_name.setdefault(_name(path), []).append(path)
                self._by_folder.setdefault(dirname(path), []).append(path)
        return self._by_lower

    def _find(self, wanted: str) -> str | None:
        same_name = self._by_name.get(_name(wanted), [])
        if same_name:
            folders = _folders(wanted)
            best = min(same_name, key=lambda path: (len(folders ^ _folders(path)), path))
            # Many folders have a page such as "overview". If several folders do, a page is suggested only if it shares
            # a folder with ``wanted``.
            return best if len(same_name) == 1 or folders & _folders(best) else None
        in_folder = self._by_folder.get(wanted)
        if in_folder:
            return min(in_folder, key=lambda path: (_name(path) not in _FIRST_PAGES, path))
        self._compared += 1
        return self._nearest_spelling(wanted) if self._compared <= _MAX_COMPARISONS else None

    def _nearest_spelling(self, wanted: str) -> str | None:
        folder = dirname(wanted)
        best: tuple[int, str] | None = None
        for candidate in self.paths if len(self.paths) <= _FEW_PATHS else self._by_folder.get(folder, []):
            most = min(_MAX_EDITS if dirname(candidate) == folder else 2, len(candidate) // 4)
            edits = edit_distance(wanted.lower(), candidate.lower(), most)
            if edits <= most and (best is None or (edits, candidate) < best):
                best = (edits, candidate)
        return best[1] if best else None


def _name(path: str) -> str:
    name = basename(path.rstrip("/")).lower()
    for suffix in _PAGE_SUFFIXES:
        name = name.removesuffix(suffix)
    return normalize(name)


def _folders(path: str) -> frozenset[str]:
    return frozenset(path.lower().split("/")[:-1])
