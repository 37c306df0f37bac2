"""Choosing: which page each version of the docs begins with, and which one stands for the page that is open.

Each page is drawn once. A page that belongs to some versions only is drawn for those. A page without a version is drawn
for all of them: it carries what each version shows, marked with the version, and the page's own mark says which one is
meant. The server writes the first version of the file there, so that without a script the docs are those of the first
version until the reader chooses another; with one, what the reader chose last is put there before the first paint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from posixpath import commonpath

from tenantry_site.navigation.destinations import VersionChoice
from tenantry_site.navigation.entries import Versions


class Choosing:
    """``listed``: the pages of the navigation in their order, with the versions of each; ``names`` and ``urls``: those
    of the versions. ``first`` gives the first page that is shown in a version at all."""

    def __init__(
        self, names: Iterable[str], urls: Iterable[str | None], listed: Mapping[str, Versions], first: Mapping[int, str]
    ) -> None:
        self._names = tuple(names)
        self._urls = tuple(urls)
        self._first = first
        self._own: list[list[str]] = [[] for _ in self._names]
        for path, versions in listed.items():
            for place in versions or ():
                self._own[place].append(path)
        self._roots = [commonpath(map(_folder, own)) if own else "" for own in self._own]
        self._relative = [
            {path.removeprefix(root).lstrip("/"): path for path in own}
            for root, own in zip(self._roots, self._own, strict=True)
        ]

    def choices(self, path: str, versions: Versions) -> tuple[VersionChoice, ...]:
        """Every version in the order of the file, with the page to go to from the page ``path``."""
        shown = 0 if versions is None else min(versions, default=0)
        return tuple(
            VersionChoice(
                place=place,
                name=name,
                url=self._urls[place] or "",
                path=path if place == shown else self._page(place, path, versions),
                current=place == shown,
                stays=not self._urls[place] and (versions is None or place in versions),
            )
            for place, name in enumerate(self._names)
        )

    def begin(self, place: int) -> str:
        """The first page of a version: its own first, else the first of those that are in all; empty without pages."""
        return self._own[place][0] if self._own[place] else self._first.get(place, "")

    def _page(self, place: int, path: str, versions: Versions) -> str:
        """The page with the same path below the folder of its version, else the first page of the version.

        A page that is in all versions is its own counterpart, but a link to it would show no other version without a
        script: there, too, the link leads to the first page, and ``stays`` tells a script that it need not.
        """
        for other in sorted(versions or ()):
            same = self._relative[place].get(path.removeprefix(self._roots[other]).lstrip("/"))
            if same:
                return same
        return self.begin(place) or path


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
