"""CSV (RFC 4180)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from io import StringIO
from typing import Any, Final
from uuid import UUID

from tenantry.datasources.results.format import DEFAULT_FORMAT, Format, clean_text, is_finite
from tenantry.datasources.results.json import Rows, TextWriter
from tenantry.datasources.results.result import Result

# Python's `csv` writes these types correctly with `str`.
_AS_THEY_ARE: Final = frozenset({int, type(None), date, UUID})
_NUMBERS: Final = (float, Decimal)
_FORMULA: Final = "=+@\uff1d\uff0b\uff0d\uff20-"
"""If a field begins with one of these characters (four are full-width), a spreadsheet could run it as a formula (OWASP,
CSV injection)."""
_FORMULA_STARTS: Final = (*_FORMULA, "\t", "\r", "\n")
_SEPARATORS: Final = ",;\t"


def to_csv(rows: Rows, format_: Format = DEFAULT_FORMAT, *, formula_safe: bool = False) -> bytes:
    """Write a header and one line per row, in UTF-8.

    NULL, NaN and infinity become empty fields. Dates are written in ISO 8601, lists and objects as JSON.
    ``formula_safe`` puts an apostrophe before each field that a spreadsheet could run as a formula, and before each
    such part of a field that a spreadsheet could split. Raises ValueError for dicts with different keys.
    For a list or object, raises InvalidSettings if msgspec is missing, and QueryFailed if the value is nested too
    deeply.
    """
    result = rows if isinstance(rows, Result) else Result.of_dicts(rows)
    writer = CSVWriter(result.names, format_, formula_safe=formula_safe)
    return b"".join(map(writer.write, [(), *result.chunks()]))


class CSVWriter:
    """A ChunkWriter. The first part begins with the header, even without rows."""

    def __init__(self, names: Sequence[str], format_: Format, *, formula_safe: bool) -> None:
        self._format = format_
        self._formula_safe = formula_safe
        self._as_they_are = _AS_THEY_ARE if formula_safe else _AS_THEY_ARE | {str}
        self._text = TextWriter(format_).text
        self._inner_formulas = _inner_formulas(format_.separator)
        mark = "\ufeff".encode() if format_.byte_order_mark else b""
        self._header = mark + (self._lines([map(self._guarded, names)]) if names else b"")

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        header, self._header = self._header, b""
        return header + self._lines(zip(*map(self._column, zip(*rows, strict=True)), strict=True))

    def end(self) -> bytes:
        return b""

    def _column(self, column: Sequence[Any]) -> Iterable[Any]:
        return column if self._as_they_are.issuperset(map(type, column)) else map(self._field, column)

    def _field(self, value: Any) -> Any:
        if type(value) in self._as_they_are:
            return value
        if isinstance(value, _NUMBERS):
            if not is_finite(value):
                return None
            return str(value).replace(".", ",") if self._format.decimal_comma else value
        return self._guarded(self._text(value))

    def _guarded(self, text: str) -> str:
        if not self._formula_safe:
            return text
        return self._inner_formulas.sub("'", f"'{text}" if text.startswith(_FORMULA_STARTS) else text)

    def _lines(self, rows: Iterable[Iterable[Any]]) -> bytes:
        buffer = StringIO(newline="")
        csv.writer(buffer, delimiter=self._format.separator).writerows(rows)
        return clean_text(buffer.getvalue()).encode()


@cache
def _inner_formulas(separator: str) -> re.Pattern[str]:
    # A spreadsheet may split a field at a line break, or at a separator that is not `separator`. The pattern matches
    # where a formula would then begin. Fields that contain `separator` are quoted, so they are not split at it.
    ends = "".join(each for each in _SEPARATORS if each != separator)
    return re.compile(f'(?<=[{ends}\r\n])(?="*[{_FORMULA}])')
