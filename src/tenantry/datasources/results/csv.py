"""CSV (RFC 4180)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import Any, Final
from uuid import UUID

from tenantry.datasources.results.format import DEFAULT_FORMAT, Format, clean_text, is_finite
from tenantry.datasources.results.json import Rows, TextWriter
from tenantry.datasources.results.result import Result

_AS_THEY_ARE: Final = frozenset({int, type(None), date, UUID})
"""Types that Python's ``csv`` writes correctly with ``str``."""
_NUMBERS: Final = (float, Decimal)
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A field that begins with one of these could be run by a spreadsheet as a formula (OWASP, CSV injection). Some are
full-width forms."""


def to_csv(rows: Rows, format_: Format = DEFAULT_FORMAT, *, formula_safe: bool = False) -> bytes:
    """Write a header and one line per row, in UTF-8 without a byte order mark.

    NULL, NaN and infinity become empty fields. Dates are written in ISO 8601. Lists and objects are written as JSON.
    ``formula_safe`` puts an apostrophe before fields that a spreadsheet could run as formulas. Raises ValueError for
    dicts with different keys. For a list or object, raises InvalidSettings if msgspec is missing, and QueryFailed if
    the value is nested too deeply.
    """
    result = rows if isinstance(rows, Result) else Result.of_dicts(rows)
    writer = CSVWriter(result.names, format_, formula_safe=formula_safe)
    return b"".join([writer.header(), *map(writer.write, result.chunks())])


class CSVWriter:
    def __init__(self, names: Sequence[str], format_: Format, *, formula_safe: bool) -> None:
        self._names = names
        self._formula_safe = formula_safe
        self._as_they_are = _AS_THEY_ARE if formula_safe else _AS_THEY_ARE | {str}
        self._text = TextWriter(format_).text

    def header(self) -> bytes:
        return _lines([[self._guarded(name) for name in self._names]]) if self._names else b""

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        return _lines(zip(*map(self._column, zip(*rows, strict=True)), strict=True))

    def _column(self, column: Sequence[Any]) -> Iterable[Any]:
        return column if self._as_they_are.issuperset(map(type, column)) else map(self._field, column)

    def _field(self, value: Any) -> Any:
        if type(value) in self._as_they_are:
            return value
        if isinstance(value, _NUMBERS):
            return value if is_finite(value) else None
        return self._guarded(self._text(value))

    def _guarded(self, text: str) -> str:
        return f"'{text}" if self._formula_safe and text.startswith(_FORMULA_STARTS) else text


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    buffer = StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return clean_text(buffer.getvalue()).encode()
