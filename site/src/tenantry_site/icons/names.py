"""From what an author wrote to the name of an icon that is there."""

from __future__ import annotations

import re
from functools import lru_cache

from tenantry_site import suggestions
from tenantry_site.icons import bundle
from tenantry_site.icons.synonyms import NAMES

LONGEST = 60
SHORTEST_KIN = 3

_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_PREFIX = re.compile(r"^(?:fa|fas|far|fab|fad|fal|fat|lucide|lu)-(?=.)")
_NUMBER = re.compile(r"-?\d+$")
_STYLES = frozenset(
    {"fa", "fas", "far", "fab", "fad", "fal", "fat"}
    | {f"fa-{style}" for style in ("solid", "regular", "brands", "duotone", "light", "thin", "sharp")}
)


def normal(name: str) -> str:
    """Small letters, digits and single hyphens; empty for what is no name at all, a path to a picture for example.

    ``faBookOpen``, ``fa-solid fa-book-open``, ``lucide:book-open``, ``book_open`` -> ``book-open``.
    """
    if len(name) > LONGEST or "/" in name:
        return ""
    words = [word for word in name.split() if word not in _STYLES] or name.split()
    if not words:
        return ""
    bare = "-".join(words).rpartition(":")[2]
    return _PREFIX.sub("", _BETWEEN.sub("-", _HUMPS.sub("-", bare).lower()).strip("-"))


def exact(name: str) -> str | None:
    """The icon of a normal name: itself, an old name, a synonym, or one of those with a number behind it."""
    for candidate in (name, _NUMBER.sub("", name)):
        found = bundle.known(candidate) or NAMES.get(candidate)
        if found:
            return found
    return None


def resolve(name: str) -> str | None:
    """The icon that a name means; for a paid one that is not here its kin (``chart-line-up`` -> ``chart-line``).

    The kin of a name is what is left of it without its last words, else without its first. None: nothing is near.
    """
    wanted = normal(name)
    found = exact(wanted) if wanted else None
    if found:
        return found
    words = wanted.split("-")
    shorter = ["-".join(words[:end]) for end in range(len(words) - 1, 0, -1)]
    shorter += ["-".join(words[start:]) for start in range(1, len(words))]
    return next((kin for each in shorter if len(each) >= SHORTEST_KIN and (kin := exact(each))), None)


@lru_cache(maxsize=256)
def nearest(name: str) -> str | None:
    """The name that is spelt most like an unknown one, for a message to its author; None if none is close."""
    return suggestions.nearest(normal(name), bundle.names())
