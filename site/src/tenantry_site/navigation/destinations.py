"""Link targets of tabs, anchors, versions and next steps, for each version of the docs.

A page is rendered once and carries the content of all its versions, marked. The server selects the file's first
version; a script restores the reader's last choice before the first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from posixpath import commonpath

from tenantry_site.navigation.tree import Versions


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A page to link to. ``versions``: those in which the link is shown; None: all."""

    path: str
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class Destination:
    """A tab or an anchor.

    ``url`` is set for an external link, ``targets`` for pages of this site. ``index``: its position in the file; None
    for the first tab and the top anchor.
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
    """A version to choose.

    ``url``: its external address; ``path``: the page of this site. ``stays``: the open page belongs to this version
    too, so a script can switch without leaving it.
    """

    index: int
    name: str
    path: str = ""
    url: str = ""
    current: bool = False
    stays: bool = False


def targets(find: Callable[[int], str | None], asked: Collection[int]) -> tuple[LinkTarget, ...]:
    """Call ``find`` for each version; return a single target if all results are equal."""
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
    """Finds the page to open in each version.

    ``listed``: the pages of the navigation in order, with their versions; ``names`` and ``urls``: of the versions;
    ``first``: the first page shown in a version.
    """

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
        """All versions in the file's order, each with the page to open from ``path``."""
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
        """The first page of a version: its own, else the first page shared by all; empty without pages."""
        return self._own[index][0] if self._own[index] else self._first.get(index, "")

    def _page(self, index: int, path: str, versions: Versions) -> str:
        """The page with the same path below the version's folder, else the version's first page.

        A page in all versions links to the first page too, since without a script a link to itself would not switch.
        """
        for other in sorted(versions or ()):
            same = self._relative[index].get(path.removeprefix(self._roots[other]).lstrip("/"))
            if same:
                return same
        return self.begin(index) or path


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
