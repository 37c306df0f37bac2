"""What is carried along while the values of a file are read by the validators of their fields."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tenantry_site.config.diagnostics import ConfigDiagnostics
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.quoting import describe
from tenantry_site.config.source import JsonPath
from tenantry_site.config.string_kinds import StringKind

_REQUIRED = frozenset({"destination", "group", "name", "navigation", "pages", "primary", "source", "url"})
"""Fields that are required wherever, or nearly wherever, they are known."""


class ReadContext:
    """The diagnostics so far, and what has been read of each kind, for the checks of one field against another.

    ``objects`` has every object by its model's class, as clean values by attribute; ``strings`` every string by its
    kind. ``foreign_keys`` and ``newer_keys`` are reported together, at the end. ``refused_elsewhere`` are keys that are
    taken here and that other programs refuse. ``already_reported`` is a value that has its diagnostic and needs no
    other.
    """

    __slots__ = (
        "already_reported",
        "diagnostics",
        "foreign_keys",
        "newer_keys",
        "objects",
        "refused_elsewhere",
        "strings",
    )

    def __init__(self, diagnostics: ConfigDiagnostics) -> None:
        self.diagnostics: ConfigDiagnostics = diagnostics
        self.objects: defaultdict[type, list[tuple[dict[str, Any], JsonPath]]] = defaultdict(list)
        self.strings: defaultdict[StringKind, list[tuple[str, JsonPath]]] = defaultdict(list)
        self.foreign_keys: list[JsonPath] = []
        self.newer_keys: list[JsonPath] = []
        self.refused_elsewhere: list[JsonPath] = []
        self.already_reported: Any = None

    def wrong_type(self, location: JsonPath, value: Any, expected: str, fix: str) -> None:
        """Reports that a value is of the wrong type. The field keeps its default, a list goes without the item."""
        if value is self.already_reported is not None:
            return
        if value is None and location.key not in _REQUIRED:
            fix = f"{'remove it' if isinstance(location.key, int) else 'leave the key out'}, or {fix}"
        self.diagnostics.add(location, "CFG041", f"{location.display()} is {describe(value)}, not {expected}", fix)

    def drop(self, field: str, items: list[dict[str, Any]]) -> None:
        """Takes items, the very ones, out of a list of the site."""
        gone = {id(item) for item in items}
        if gone:
            for site, _ in self.objects[SiteConfig]:
                site[field] = [item for item in site[field] if id(item) not in gone]
