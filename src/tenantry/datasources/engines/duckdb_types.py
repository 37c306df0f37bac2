"""DuckDB's types: their words in a Result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

JSON: Final = "json"
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "float"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "datetime"),
    **dict.fromkeys(("VARCHAR", "BIT", "BIGNUM", "VARINT"), "text"),
    "BOOLEAN": "boolean",
    "BLOB": "bytes",
    "DATE": "date",
    "TIME": "time",
    "TIME WITH TIME ZONE": "time",
    "TIMESTAMP WITH TIME ZONE": "datetime",
    "INTERVAL": "interval",
    "UUID": "uuid",
    "JSON": JSON,
}
_FAMILIES: Final[Mapping[str, str]] = {"DECIMAL": "decimal", "STRUCT": "struct", "MAP": "struct", "ENUM": "text"}


def type_word(name: str) -> str | None:
    """The word for a type as DuckDB writes it, ``DECIMAL(5,2)`` or ``INTEGER[]``; None for one that has none."""
    if name.endswith("]"):
        return "list"
    family, bracket, _ = name.partition("(")
    return _FAMILIES.get(family) if bracket else _WORDS.get(name)
