"""Keys: what is said of a key that the model does not have, in the order of how sure it is.

A known field of other generators, told once for the file; a field of the newer format, likewise; a key that belongs
elsewhere; one that is nearly a known key of the same object that is not there; any other.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry_site.config.distance import nearest, squash
from tenantry_site.config.model import SiteConfig, TopbarLink
from tenantry_site.config.quoting import quoted
from tenantry_site.config.tables import EXTENSIONS, MOVED, NEWER
from tenantry_site.config.tree import Object, Spot
from tenantry_site.config.walk import Walk

_SHOWN = 12


def unknown_keys(part: type, known: Iterable[str], value: Object, unknown: list[str], spot: Spot, walk: Walk) -> None:
    """Says what is to be said of an object's unknown keys."""
    for key in unknown:
        below = spot.below(value, key)
        if part is SiteConfig and key == "$schema":
            continue
        if key in EXTENSIONS.get(part, {}):
            walk.extensions.append(below)
            if part is TopbarLink and key in {"icon", "iconType"}:
                walk.refused.append(below)
        elif part is SiteConfig and key in NEWER:
            walk.newer.append(below)
        else:
            _say(part, key, [other for other in known if other not in value], below, walk)


def _say(part: type, key: str, free: list[str], spot: Spot, walk: Walk) -> None:
    where = "here" if spot.parent is None or spot.parent.holder is None else f"in {spot.parent.words()}"
    message = f"the key {quoted(key)} is not known {where} and has no effect"
    target = MOVED.get(part, {}).get(squash(key))
    if target in (spot.holder or ()):
        walk.notes.say(spot, "CFG036", message, f"remove it: {target} says it already", of_key=True)
    elif target is not None and squash(target) != squash(key):
        walk.notes.say(spot, "CFG035", message, f"write it as {target}", of_key=True)
    elif "." in key.strip("."):
        outer, _, inner = key.partition(".")
        fix = f"write it nested: {quoted(outer)}: {{ {quoted(inner)}: … }}"
        walk.notes.say(spot, "CFG035", message, fix, of_key=True)
    else:
        near = nearest(key, free)
        if near is not None:
            walk.notes.say(spot, "CFG034", message, f'did you mean "{near}"?', of_key=True)
        else:
            walk.notes.say(spot, "CFG036", message, "remove it, or look up the name of the field", of_key=True)


def tell_together(walk: Walk, *, newer_told: bool) -> None:
    """Says what is said once for a file: ``newer_told`` if an error has already called it one of the newer format."""
    if walk.extensions:
        message = f"fields of other generators, which have no effect here: {_listed(walk.extensions)}"
        walk.notes.say(walk.extensions[0], "CFG031", message, of_key=True)
    if walk.newer and not newer_told:
        message = f"fields of the newer format, which have no effect here: {_listed(walk.newer)}"
        fix = "write them in the fields of this format, or remove them"
        walk.notes.say(walk.newer[0], "CFG033", message, fix, of_key=True)


def _listed(spots: list[Spot]) -> str:
    names = list(dict.fromkeys(spot.words() for spot in spots))
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
