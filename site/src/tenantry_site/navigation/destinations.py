"""Where a tab, an anchor, a version and a step forward lead, in each version of the docs.

Each page is rendered once. A page that belongs to some versions only is rendered for those. A page without a version is
rendered for all of them: it carries what each version shows, marked with the version, and an attribute of the page says
which one is meant. The server writes the first version of the file there, so that without a script the docs are those
of the first version until the reader chooses another; with one, what the reader chose last is put there before the
first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from posixpath import commonpath

from tenantry_site.navigation.tree import Versions


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A page to lead to, and the versions in which to lead there: None for all."""

    path: str
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class Destination:
    """A tab or an anchor. ``url`` is set for a link to elsewhere, and ``targets`` for pages of this site.

    ``index`` is its position in the file; None for the first tab and the top anchor.
    """

    index: int | None
    name: str
    icon: str = ""
    icon_type: str = ""
    url: str = ""
    targets: tuple[LinkTarget, ...] = ()
    versions: Versions = None
    current: bool = False


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """A version to choose. ``url`` is where it lives elsewhere, ``path`` the page of this site to go to.

    ``stays``: the page that is open belongs to it too, so that a script can choose it without leaving the page.
    """

    index: int
    name: str
    path: str = ""
    url: str = ""
    current: bool = False
    stays: bool = False


def targets(find: Callable[[int], str | None], asked: Collection[int]) -> tuple[LinkTarget, ...]:
    """The page that ``find`` gives for each version asked; one target for all where they all lead to the same."""
    found: dict[str, set[int]] = {}
    for version in asked:
        path = find(version)
        if path is not None:
            found.setdefault(path, set()).add(version)
    return tuple(
        LinkTarget(path, None if len(versions) == len(asked) else frozenset(versions))
        for path, versions in found.items()
    )


class VersionChooser:
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
            for index in versions or ():
                self._own[index].append(path)
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
                index=index,
                name=name,
                url=self._urls[index] or "",
                path=path if index == shown else self._page(index, path, versions),
                current=index == shown,
                stays=not self._urls[index] and (versions is None or index in versions),
            )
            for index, name in enumerate(self._names)
        )

    def begin(self, index: int) -> str:
        """The first page of a version: its own first, else the first of those that are in all; empty without pages."""
        return self._own[index][0] if self._own[index] else self._first.get(index, "")

    def _page(self, index: int, path: str, versions: Versions) -> str:
        """The page with the same path below the folder of its version, else the first page of the version.

        A page that is in all versions is its own counterpart, but a link to it would show no other version without a
        script: there, too, the link leads to the first page, and ``stays`` tells a script that it need not.
        """
        for other in sorted(versions or ()):
            same = self._relative[index].get(path.removeprefix(self._roots[other]).lstrip("/"))
            if same:
                return same
        return self.begin(index) or path


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
