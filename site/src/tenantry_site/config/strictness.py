"""What stricter programs refuse as a whole for one mistake inside it, where this one leaves out the mistake."""

from __future__ import annotations

import re

from tenantry_site.config.context import ReadContext
from tenantry_site.config.source import JsonObject, JsonPath

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


def check_strictness(context: ReadContext) -> None:
    """Reports of each such object, once, which mistakes inside it others refuse it for."""
    objects: dict[str, tuple[JsonPath, list[str]]] = {}
    reported = {location.pointer() for _, location in context.diagnostics.located}
    for code, location in [*context.diagnostics.located, *(("", location) for location in context.refused_elsewhere)]:
        if (
            code == "CFG043"
            and isinstance(location.container, JsonObject)
            and location.container.get("type") == "github"
        ):
            continue  # others want no name there
        pointer = location.pointer()
        for ancestor in _refused_objects(code, pointer) - reported:
            refused, reasons = objects.setdefault(ancestor, (_ancestor(location, ancestor), []))
            reasons.append(location.display())
    for refused, reasons in objects.values():
        listed = ", ".join(list(dict.fromkeys(reasons))[:_SHOWN]) + (", …" if len(set(reasons)) > _SHOWN else "")
        message = f"other programs refuse {refused.display()} as a whole, for {listed}"
        context.diagnostics.add(refused, "CFG037", message)


def _refused_objects(code: str, pointer: str) -> set[str]:
    """Pointers of what is refused for this."""
    closed = _CLOSED.fullmatch(pointer) if code in _UNKNOWN or not code else None
    either = _EITHER.match(pointer) if code in _UNFIT else None
    return {match[1] for match in (closed, either) if match is not None}


def _ancestor(location: JsonPath, pointer: str) -> JsonPath:
    for _ in range(len(location.keys()) - pointer.count("/")):
        location = location.parent or location
    return location
