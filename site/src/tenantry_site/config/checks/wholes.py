"""Wholes: what stricter programs refuse as a whole for one mistake inside it, where this one leaves out the mistake."""

from __future__ import annotations

import re

from tenantry_site.config.tree import Object, Spot
from tenantry_site.config.walk import Walk

_GROUP = r"/navigation/[0-9]+(?:/pages/[0-9]+)*"
_CLOSED = re.compile(
    rf"(/colors|/colors/anchors|/anchors/[0-9]+/color|/topbarLinks/[0-9]+|/topbarCtaButton|/versions/[0-9]+|/topAnchor"
    rf"|/primaryTab|/api|/api/auth|/footerSocials|{_GROUP})/[^/]+"
)
"""Objects that may have no other keys."""
_EITHER = re.compile(
    "(/logo|/colors/anchors|/anchors/[0-9]+/color|/topbarLinks/[0-9]+|/topbarCtaButton|/versions/[0-9]+|/footerSocials"
    "|/api/baseUrl|/openapi|/navigation/[0-9]+/pages/[0-9]+)/.+"
)
"""Values that may be one of two things: with a mistake inside they are neither."""

_UNKNOWN = frozenset({"CFG034", "CFG035", "CFG036", "CFG056"})
_UNFIT = frozenset({"CFG041", "CFG043", "CFG045", "CFG046", "CFG066"})
_SHOWN = 3


def check_wholes(walk: Walk) -> None:
    """Says of each such object, once, which mistakes inside it others refuse it for."""
    wholes: dict[str, tuple[Spot, list[str]]] = {}
    told = {spot.pointer() for _, spot in walk.notes.said}
    for code, spot in [*walk.notes.said, *(("", spot) for spot in walk.refused)]:
        if code == "CFG043" and isinstance(spot.holder, Object) and spot.holder.get("type") == "github":
            continue  # others want no name there
        pointer = spot.pointer()
        for whole in _around(code, pointer) - told:
            place, reasons = wholes.setdefault(whole, (_up(spot, whole), []))
            reasons.append(spot.words())
    for place, reasons in wholes.values():
        listed = ", ".join(list(dict.fromkeys(reasons))[:_SHOWN]) + (", …" if len(set(reasons)) > _SHOWN else "")
        message = f"other programs refuse {place.words()} as a whole, for {listed}"
        walk.notes.say(place, "CFG037", message)


def _around(code: str, pointer: str) -> set[str]:
    """Pointers of what is refused for this."""
    closed = _CLOSED.fullmatch(pointer) if code in _UNKNOWN or not code else None
    either = _EITHER.match(pointer) if code in _UNFIT else None
    return {match[1] for match in (closed, either) if match is not None}


def _up(spot: Spot, whole: str) -> Spot:
    for _ in range(len(spot.keys()) - whole.count("/")):
        spot = spot.parent or spot
    return spot
