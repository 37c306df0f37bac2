"""Parts: which tab and which anchor a page belongs to.

Both mark their pages by the beginning of the path, segment by segment (``api`` marks ``api`` and ``api/users`` but not
``api-reference``), and of several that fit the longest wins. What no tab marks belongs to the first tab, what no anchor
marks to the top anchor.

A site may have both (88 of 256 real files do). Then a page has one of each, found independently, and its sidebar shows
what shares both: a tab is chosen in the head and an anchor above the sidebar, so each answers a question of its own and
neither may be ignored. To let the longer prefix of the two win would make a page under ``api/events`` drop out of the
tab ``api`` as soon as somebody adds an anchor for ``api/events``, and the head would show no tab or a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from tenantry_site.addresses import page_path


class Part(NamedTuple):
    """A tab and an anchor by their places in the file. None: the first tab, the top anchor."""

    tab: int | None
    anchor: int | None


class Prefixes:
    """The beginnings of paths that tabs, or anchors, mark their pages by."""

    __slots__ = ("_places",)

    def __init__(self, urls: Iterable[str]) -> None:
        self._places: dict[str, int] = {}
        for place, url in enumerate(urls):
            prefix = prefix_of(url)
            if prefix is not None:
                self._places.setdefault(prefix, place)

    def place(self, path: str) -> int | None:
        """The one with the longest beginning that fits."""
        if not self._places:
            return None
        while path:
            if path in self._places:
                return self._places[path]
            path = path.rpartition("/")[0]
        return self._places.get("")


def prefix_of(url: str) -> str | None:
    """The path that a tab or an anchor marks its pages by; None for a link to elsewhere, or out of the site."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else page_path(parts.path)
