"""Converts queries of Metabase and Grafana to SQL templates, and lists constructs to check by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tenantry.sql.inspect import DEFAULT_DIALECT, dialect_named
from tenantry_convert.conversion import (
    DEFAULT_NAME,
    TENANT_REMINDER,
    Conversion,
    ConversionItem,
    ConvertedQuery,
    ImportedQuery,
    ImportedVariable,
)
from tenantry_convert.grafana import convert_grafana
from tenantry_convert.grafana_dashboard import read_dashboard
from tenantry_convert.metabase import convert_metabase
from tenantry_convert.metabase_card import read_cards
from tenantry_convert.scanning import path_name

TOOLS: Final = ("grafana", "metabase")
"""The tools whose queries can be converted."""


def convert(
    text: str,
    tool: str,
    dialect: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    name: str = DEFAULT_NAME,
) -> list[ConvertedQuery]:
    """Convert SQL, or the queries in the JSON of a question, a panel or a dashboard.

    ``tool``: one of TOOLS. ``dialect``: by default the document's, else postgresql. ``columns`` maps Metabase's field
    filters to columns. ``name``: for a query without a name. A construct that cannot be converted is kept, and listed
    in ``items``. Raises ValueError for an unknown tool or dialect, and for JSON without a query.
    """
    if tool not in TOOLS:
        raise ValueError(f"there is no tool {tool!r}: give one of {', '.join(TOOLS)}")
    return [_convert(query, tool, dialect, columns or {}) for query in read_queries(text, tool, name)]


def read_queries(text: str, tool: str, name: str = DEFAULT_NAME) -> list[ImportedQuery]:
    """Return the queries in a document. ``name``: for a query without a name. Raises ValueError for JSON without a
    query."""
    document = _json(text)
    if document is None:
        return [ImportedQuery(text=text, name=name)]
    found = read_dashboard(document, name) if tool == "grafana" else read_cards(document, name)
    if not found:
        raise ValueError(f"this JSON contains no SQL query of {tool.capitalize()}")
    return found


def _convert(query: ImportedQuery, tool: str, dialect: str | None, columns: Mapping[str, str]) -> ConvertedQuery:
    profile = dialect_named(dialect or query.dialect or DEFAULT_DIALECT)
    conversion = Conversion(query, profile.name)
    if tool == "grafana":
        convert_grafana(conversion, profile)
    else:
        convert_metabase(conversion, profile, columns)
    return conversion.finish()


def file_name(name: str) -> str:
    """Return a query's file name without the suffix: letters, digits and ``_``."""
    return path_name(name)[:80] or "query"


def _json(text: str) -> Any:
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")) or text.startswith(("{{", "{%", "[[")):
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"this begins like JSON but cannot be read: {error}") from None


__all__ = [
    "DEFAULT_NAME",
    "TENANT_REMINDER",
    "TOOLS",
    "ConversionItem",
    "ConvertedQuery",
    "ImportedQuery",
    "ImportedVariable",
    "convert",
    "file_name",
    "read_queries",
]
