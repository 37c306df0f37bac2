"""Converting a query of another tool into our syntax (docs/coming-from.md). Nothing is left out in silence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tenantry.sql.convert.conversion import (
    DEFAULT_NAME,
    TENANT_REMINDER,
    Conversion,
    ConversionItem,
    ConvertedQuery,
    ImportedQuery,
    ImportedVariable,
)
from tenantry.sql.convert.grafana import convert_grafana
from tenantry.sql.convert.grafana_dashboard import read_dashboard
from tenantry.sql.convert.metabase import convert_metabase
from tenantry.sql.convert.metabase_card import read_cards
from tenantry.sql.convert.scanning import path_name
from tenantry.sql.dialects import dialect_named
from tenantry.sql.template import DEFAULT_DIALECT

TOOLS: Final = ("grafana", "metabase")
"""The tools whose queries are read."""


def convert(
    text: str,
    tool: str,
    dialect: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    name: str = DEFAULT_NAME,
) -> list[ConvertedQuery]:
    """The queries of a text: SQL, or the JSON of a question, of a panel or of a dashboard.

    ``tool`` is one of TOOLS. ``dialect`` is that of the SQL; without it what the document names, else postgresql.
    ``columns`` gives the columns of Metabase's field filters by their names. ``name`` is that of a query whose document
    has none for it, such as the file's. Each construct that could not be converted
    is in the ``items`` of its query, and stays in the text as it was.

    Raises ValueError for a tool or a dialect that is not known, and for JSON that holds no SQL query.
    """
    if tool not in TOOLS:
        raise ValueError(f"there is no tool {tool!r}: give one of {', '.join(TOOLS)}")
    return [_convert(query, tool, dialect, columns or {}) for query in read_queries(text, tool, name)]


def read_queries(text: str, tool: str, name: str = DEFAULT_NAME) -> list[ImportedQuery]:
    """The queries of a text, as the tool wrote them; ``name`` is for those without one. Raises ValueError for JSON that
    holds none."""
    document = _json(text)
    if document is None:
        return [ImportedQuery(text=text, name=name)]
    found = read_dashboard(document, name) if tool == "grafana" else read_cards(document, name)
    if not found:
        raise ValueError(f"this JSON holds no SQL query of {tool.capitalize()}")
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
    """A name for the file of a query, without its ending: letters, digits and ``_``."""
    return path_name(name)[:80] or "query"


def _json(text: str) -> Any:
    """The document, or None for SQL, which begins with ``{{`` or ``[[`` at most. Raises ValueError for broken JSON."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")) or text.startswith(("{{", "{%", "[[")):
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"this begins as JSON and is none: {error}") from None


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
