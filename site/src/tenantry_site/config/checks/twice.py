"""Twice: no version, anchor or tab stands in its list two times. The second is taken out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tenantry_site.config.model import Anchor, Tab, Version
from tenantry_site.config.quoting import quoted
from tenantry_site.config.walk import Walk

_LISTS: dict[str, tuple[type[BaseModel], tuple[str, ...]]] = {
    "versions": (Version, ("name",)),
    "anchors": (Anchor, ("name", "url", "version")),
    "tabs": (Tab, ("name", "url")),
}
"""Each list with its class, and the attributes in which two of its items must differ."""


def check_twice(walk: Walk) -> None:
    """Says which items of a list are there already."""
    for field, (part, attributes) in _LISTS.items():
        seen: set[tuple[Any, ...]] = set()
        dropped: list[dict[str, Any]] = []
        for clean, spot in walk.parts[part]:
            same = tuple(clean.get(attribute) for attribute in attributes)
            if same in seen:
                message = f"{spot.words()}, {quoted(clean['name'])}, stands in the list already, and is left out"
                walk.notes.say(spot, "CFG075", message, "remove one of the two")
                dropped.append(clean)
            seen.add(same)
        walk.drop(field, dropped)
