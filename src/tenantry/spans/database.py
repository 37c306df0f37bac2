"""The span of a query on a data source, by the semantic conventions for databases (stable since 1.30)."""

from __future__ import annotations

import re
from typing import Final

from opentelemetry.trace import SpanKind

from tenantry.spans.span import Span

_FIRST_WORD: Final = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*([A-Za-z]+)", re.DOTALL)
_READING: Final = frozenset({"DESCRIBE", "EXPLAIN", "FROM", "PRAGMA", "SELECT", "SHOW", "TABLE", "VALUES", "WITH"})
_SYSTEMS: Final = {"mssql": "microsoft.sql_server", "oracle": "oracle.db"}
"""Dialects that the conventions know by another name."""


class DatabaseSpan(Span):
    """Around one query on the registered source of this id. Neither its text nor a value nor the database's name, which
    may be a customer's, is in it."""

    __slots__ = ("_source",)

    def __init__(self, source_id: str) -> None:
        super().__init__(f"query {source_id}", {"tenantry.data_source": source_id}, kind=SpanKind.CLIENT)
        self._source = source_id

    def bound(self, dialect: str, text: str) -> None:
        """What is about to run: its dialect, and of its ``text`` the first word alone."""
        self.note("db.system.name", _SYSTEMS.get(dialect, dialect))
        operation = operation_of(text)
        if operation is not None:
            self.note("db.operation.name", operation)
            self.note("db.query.summary", operation)
            self.rename(f"{operation} {self._source}")

    def returned(self, rows: int) -> None:
        self.note("db.response.returned_rows", rows)


def operation_of(text: str) -> str | None:
    """``SELECT``, ``WITH`` …: the first word of a statement, if it is one with which a query begins."""
    first = _FIRST_WORD.match(text)
    word = "" if first is None else first[1].upper()
    return word if word in _READING else None
