"""Names: ids that are on a page once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"[^a-z0-9_]+")
_IDS: Final = re.compile(r'\bid="([^"]*)"')


class Names:
    """The ids of one page."""

    __slots__ = ("_taken",)

    def __init__(self, html: str = "", taken: Iterable[str] = ()) -> None:
        self._taken = {*_IDS.findall(html), *taken}

    def new(self, wanted: str) -> str:
        """An id as near to ``wanted`` as can be."""
        bare = slug(wanted) or "part"
        name, number = bare, 2
        while name in self._taken:
            name, number = f"{bare}-{number}", number + 1
        self._taken.add(name)
        return name


def slug(text: str) -> str:
    """Words for an address: lower case, joined by hyphens."""
    return _WORD.sub("-", text.lower()).strip("-")[:80].rstrip("-")
