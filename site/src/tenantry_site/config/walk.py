"""Walk: what is carried along while a file's tree is read by the shapes of its fields."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tenantry_site.config.marks import Mark
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.notes import Notes
from tenantry_site.config.quoting import found
from tenantry_site.config.tree import Spot

_NEVER_LEFT_OUT = frozenset({"destination", "group", "name", "navigation", "pages", "primary", "source", "url"})
"""Fields that are required wherever, or nearly wherever, they are known."""


class Walk:
    """The notes so far, and what has been read of each kind, for the checks of one field against another.

    ``parts`` has every object by its model's class, as clean values by attribute; ``texts`` every text by its mark.
    ``extensions`` and ``newer`` are the places of keys that are told of together, at the end.
    ``refused`` are places of keys that are taken here and that other programs refuse.
    ``told`` is a value of which enough was said before the fields were read.
    """

    __slots__ = ("extensions", "newer", "notes", "parts", "refused", "texts", "told")

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.parts: defaultdict[type, list[tuple[dict[str, Any], Spot]]] = defaultdict(list)
        self.texts: defaultdict[Mark, list[tuple[str, Spot]]] = defaultdict(list)
        self.extensions: list[Spot] = []
        self.newer: list[Spot] = []
        self.refused: list[Spot] = []
        self.told: Any = None

    def wrong_type(self, spot: Spot, value: Any, expected: str, fix: str) -> None:
        """Says that a value is of the wrong type. The field keeps its default, a list goes without the item."""
        if value is self.told is not None:
            return
        if value is None and spot.key not in _NEVER_LEFT_OUT:
            fix = f"{'remove it' if isinstance(spot.key, int) else 'leave the key out'}, or {fix}"
        self.notes.say(spot, "CFG041", f"{spot.words()} is {found(value)}, not {expected}", fix)

    def drop(self, field: str, items: list[dict[str, Any]]) -> None:
        """Takes items, the very ones, out of a list of the site."""
        gone = {id(item) for item in items}
        if gone:
            for site, _ in self.parts[SiteConfig]:
                site[field] = [item for item in site[field] if id(item) not in gone]
