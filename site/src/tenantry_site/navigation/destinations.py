"""Destinations: where a tab, an anchor, a version and a step forward lead, in each version of the docs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tenantry_site.navigation.entries import Versions


@dataclass(frozen=True, slots=True)
class Target:
    """A page to lead to, and the versions in which to lead there: None for all."""

    path: str
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class Destination:
    """A tab or an anchor. ``url`` is set for a link to elsewhere, and ``targets`` for pages of this site.

    ``place`` is where it stands in the file; None for the first tab and the top anchor.
    """

    place: int | None
    name: str
    icon: str = ""
    icon_type: str = ""
    url: str = ""
    targets: tuple[Target, ...] = ()
    versions: Versions = None
    current: bool = False


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """A version to choose. ``url`` is where it lives elsewhere, ``path`` the page of this site to go to.

    ``stays``: the page that is open belongs to it too, so that a script can choose it without leaving the page.
    """

    place: int
    name: str
    path: str = ""
    url: str = ""
    current: bool = False
    stays: bool = False


def targets(find: Callable[[int], str | None], asked: Collection[int]) -> tuple[Target, ...]:
    """The page that ``find`` gives for each version asked; one target for all where they all lead to the same."""
    found: dict[str, set[int]] = {}
    for version in asked:
        path = find(version)
        if path is not None:
            found.setdefault(path, set()).add(version)
    return tuple(
        Target(path, None if len(versions) == len(asked) else frozenset(versions)) for path, versions in found.items()
    )
