"""Versions: whether those that are used are listed, and no group is in one of another version."""

from __future__ import annotations

from tenantry_site.config.distance import nearest
from tenantry_site.config.marks import Mark
from tenantry_site.config.quoting import quoted
from tenantry_site.config.tree import Object, Spot
from tenantry_site.config.walk import Walk


def check_versions(walk: Walk) -> None:
    """Says what is wrong with versions."""
    listed = dict.fromkeys(name for name, _ in walk.texts[Mark.NEW_VERSION])
    some = list(listed)[:100]
    for name, spot in walk.texts[Mark.VERSION]:
        if name not in listed:
            near = nearest(name, some)
            told = f'did you mean "{near}"?' if near else f'add {quoted(name)} to "versions"'
            message = f"{spot.words()} is {quoted(name)}, which versions does not list: it is never shown"
            walk.notes.say(spot, "CFG070", message, told)
        outer = _version_around(spot)
        if outer is not None and outer != name:
            message = f"{spot.words()} is {quoted(name)} inside a group of {quoted(outer)}: it is never shown"
            walk.notes.say(spot, "CFG071", message, "move the group out, or give both the same version")


def _version_around(spot: Spot) -> str | None:
    """The version of the nearest group around the object that has this version."""
    above = spot.parent
    while above is not None and above.holder is not None:
        holder = above.holder
        if isinstance(holder, Object) and "pages" in holder and isinstance(version := holder.get("version"), str):
            return version
        above = above.parent
    return None
