"""Link targets of tabs, anchors, versions, and previous and next pages, for each version of the docs.

A page is rendered once, with the content of all its versions; each element is marked with its versions, unless it is
in all of them. The HTML selects the first version of the page. Before the first paint, a script selects the version
that the reader last chose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from posixpath import commonpath

from tenantry_site.navigation.tree import Versions


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A page to link to. ``versions``: the versions in which the link is shown; None: all versions."""

    path: str
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class Destination:
    """A tab or an anchor."""

    index: int | None
    """Position in the configuration file; None for the primary tab and the top anchor."""
    name: str
    icon: str = ""
    icon_type: str = ""
    url: str = ""
    """The address of an external link or a redirect."""
    targets: tuple[LinkTarget, ...] = ()
    """The pages to link to, unless ``url`` is given."""
    versions: Versions = None
    current: bool = False
    """Whether the open page is in this tab or anchor."""


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """An entry of the version menu."""

    index: int
    name: str
    path: str = ""
    """The page to open, unless ``url`` is given."""
    url: str = ""
    """The version's address, if it is on another site."""
    current: bool = False
    """Whether the HTML selects this version."""
    stays: bool = False
    """Whether the open page is in this version too, so that a script can switch without loading a page."""


def targets(find: Callable[[int], str | None], asked: Collection[int]) -> tuple[LinkTarget, ...]:
    """Link targets for the versions in ``asked``. ``find`` returns the page for a version, or None. Versions with the
    same page share a target."""
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
    """Finds the page to open when a reader chooses another version.

    ``names``, ``urls``: one for each version, in the order of the configuration file. ``listed``: page -> the versions
    that show it, in the order of the navigation. ``first``: version -> the first page that it shows.
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

    def _first_page(self, index: int) -> str:
        """The first page that is not in all versions, else the first page of the version; empty without pages."""
        return self._own[index][0] if self._own[index] else self._first.get(index, "")

    def _page(self, index: int, path: str, versions: Versions) -> str:
        """The page to open in version ``index``: the one with the same path below the version's folder, else the
        version's first page.

        If all versions show the page at ``path``, use the version's first page: a link to the page itself would switch
        versions only with a script.
        """
        for other in sorted(versions or ()):
            same = self._relative[index].get(path.removeprefix(self._roots[other]).lstrip("/"))
            if same:
                return same
        return self._first_page(index) or path


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
