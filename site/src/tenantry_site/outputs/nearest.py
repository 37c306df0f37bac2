"""Nearest: which page or file of the site was probably meant by an address that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_COMPARED = 50
"""Addresses that are compared letter by letter; after them, a site has a larger problem than its spelling."""


_FIRST = frozenset({"overview", "introduction", "quickstart", "index"})
"""Names of pages that a link to their folder means."""


class Nearest:
    """Finds by name first, which is cheap and mostly right: a page was moved, or is written with other capitals."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted(paths)
        self._by_name: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}
        for path in self._paths:
            self._folders.setdefault(path.rpartition("/")[0], []).append(path)
            self._by_name.setdefault(_name(path), []).append(path)
        self._known: dict[str, str | None] = {}
        self._compared = 0

    def find(self, wanted: str) -> str | None:
        """The path that was probably meant; None if none is near."""
        if wanted not in self._known:
            self._known[wanted] = self._find(wanted)
        return self._known[wanted]

    def _find(self, wanted: str) -> str | None:
        same = self._by_name.get(_name(wanted), [])
        if same:
            best = max(same, key=lambda path: (_in_common(path, wanted), -len(path)))
            # Every folder may have an overview: another one is meant only if the folders have something in common.
            return best if len(same) == 1 or _in_common(best, wanted) else None
        beneath = self._folders.get(wanted)
        if beneath:
            return min(beneath, key=lambda path: (_name(path) not in _FIRST, path))
        self._compared += 1
        if self._compared > _MOST_COMPARED:
            return None
        found = get_close_matches(wanted, self._paths, n=5, cutoff=0.7)
        # A long folder in common makes any two of its files near: their names must be, too.
        names = (get_close_matches(_name(wanted), [_name(path)], cutoff=0.65) for path in found)
        return next((path for path, name in zip(found, names, strict=True) if name), None)


def _name(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2].lower()
    for suffix in (".mdx", ".md", ".html"):
        name = name.removesuffix(suffix)
    return name.replace("_", "-").replace(" ", "-")


def _in_common(one: str, other: str) -> int:
    """How many folders two paths share."""
    return len({*one.lower().split("/")[:-1]} & {*other.lower().split("/")[:-1]})
