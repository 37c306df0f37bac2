"""ClickHouse's types: their words in a Result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

READ_AS: Final = {"IPv4": "string", "IPv6": "string"}
"""Types whose values the client is to give in another form."""

_WRAPPED: Final = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)|SimpleAggregateFunction\(\w+, (.*)\)")
_FAMILY: Final = re.compile(r"[A-Za-z]+")
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Int", "UInt", "Interval"), "integer"),
    **dict.fromkeys(("Float", "BFloat"), "float"),
    **dict.fromkeys(("String", "Enum", "IPv"), "text"),
    **dict.fromkeys(("Array", "Point", "Ring", "LineString", "Polygon", "MultiPolygon"), "list"),
    **dict.fromkeys(("Map", "Nested"), "struct"),
    **dict.fromkeys(("JSON", "Object"), "json"),
    "Bool": "boolean",
    "Decimal": "decimal",
    "FixedString": "bytes",
    "Date": "date",
    "DateTime": "datetime",
    "Time": "interval",
    "UUID": "uuid",
}
_NAMED_FIELDS: Final = re.compile(r"Tuple\((?:`|\w+ [A-Z])")


def type_word(name: str) -> str | None:
    """The word for a type as ClickHouse writes it, ``Nullable(Decimal(9, 2))``; None for one that has none."""
    wrapped = _WRAPPED.fullmatch(name)
    if wrapped is not None:
        return type_word(wrapped[1] or wrapped[2])
    family = _FAMILY.match(name)
    if family is None:
        return None
    if family[0].startswith("Interval"):
        return "integer"
    if family[0] == "Tuple":
        return "struct" if _NAMED_FIELDS.match(name) else "list"
    return _WORDS.get(family[0])
