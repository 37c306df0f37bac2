"""Listing: the files of a site's folder, and which of them an author may have meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from posixpath import basename, dirname

from tenantry_site.config.distance import distance, squash

_MOST = 3
_FEW = 1000
"""Paths up to which all of them are compared; of more, those of the same folder."""


class Listing:
    """Paths, found by their exact spelling or by a near one. ``near`` is asked of few: it looks at every path."""

    __slots__ = ("_by_fold", "_by_folder", "_by_name", "paths")

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._by_fold: dict[str, str] | None = None
        self._by_folder: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}

    def other_case(self, path: str) -> str | None:
        """The path that is the same but for capitals."""
        return self._folded().get(path.lower())

    def near(self, path: str) -> str | None:
        """The path that was probably meant: one of the same name elsewhere, else one spelled nearly the same."""
        self._folded()
        same_name = self._by_name.get(squash(basename(path)))
        if same_name:
            return min(same_name, key=_apart(path))
        beside = self._by_folder.get(dirname(path), [])
        best: tuple[int, str] | None = None
        for candidate in self.paths if len(self.paths) <= _FEW else beside:
            most = min(_MOST if dirname(candidate) == dirname(path) else 2, len(candidate) // 4)
            steps = distance(path.lower(), candidate.lower(), most)
            if steps <= most and (best is None or (steps, candidate) < best):
                best = (steps, candidate)
        return best[1] if best else None

    def _folded(self) -> dict[str, str]:
        if self._by_fold is None:
            self._by_fold = {path.lower(): path for path in sorted(self.paths)}
            for path in sorted(self.paths):
                self._by_name.setdefault(squash(basename(path)), []).append(path)
                self._by_folder.setdefault(dirname(path), []).append(path)
        return self._by_fold


def _apart(path: str) -> Callable[[str], tuple[int, str]]:
    """How many folders two paths do not share, for sorting."""
    folders = set(path.split("/"))
    return lambda other: (len(folders ^ set(other.split("/"))), other)
