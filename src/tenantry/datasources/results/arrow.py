"""Arrow IPC streams (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from tenantry.datasources.results.format import (
    DEFAULT_FORMAT,
    Format,
    is_finite,
    missing_package_message,
)
from tenantry.datasources.results.json import Rows, TextWriter
from tenantry.datasources.results.result import Result
from tenantry.errors import InvalidSettings


def to_arrow(rows: Rows, format_: Format = DEFAULT_FORMAT) -> bytes:
    """Return the rows as an Arrow stream of one record batch.

    A column has the Arrow type that the engine declares (``Result.arrow_types``). A value that this type cannot hold,
    such as PostgreSQL's ``infinity`` in a timestamp, becomes null.

    The type of a column without a declared type depends on its values:
    - int64, decimal, double (also for int mixed with float), bool, binary, date32, time64[us] or duration[us]
    - timestamp[us], in UTC if all values have an offset
    - string for other types, other mixtures, and integers of more than 64 bits; lists and objects become JSON

    Raises the errors of ``to_csv``, and InvalidSettings without pyarrow (``pip install 'tenantry[arrow]'``).
    """
    pa = _pyarrow()
    result = rows if isinstance(rows, Result) else Result.of_dicts(rows)
    values = zip(*result.rows, strict=True) if result.rows else [()] * len(result.names)
    declared = result.arrow_types or [None] * len(result.names)
    arrays = [
        _inferred(pa, column.type, cells, format_) if name is None else _declared(pa, name, cells, format_)
        for name, column, cells in zip(declared, result.columns, values, strict=True)
    ]
    batch = pa.record_batch(arrays, names=list(result.names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


class ArrowWriter:
    """A ChunkWriter that writes a record batch for each part of the rows.

    A column has the Arrow type that the engine declares (``arrow_types``). Without a declared type, a column of type
    boolean, integer, float, bytes or date has the corresponding Arrow type. Any other column has strings. A value
    that its column cannot hold becomes null.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[str | None] | None,
        arrow_types: Sequence[str | None] | None,
        format_: Format,
    ) -> None:
        unknown = [None] * len(names)
        self._pa = _pyarrow()
        self._names = list(names)
        # A column without a certain type has strings, because the types of its later values are not known yet.
        self._declared = [
            name or (ARROW_TYPES[word] if word in _CERTAIN else "string")
            for name, word in zip(arrow_types or unknown, types or unknown, strict=True)
        ]
        self._format = format_
        self._sink = _Sink()
        self._writer: Any = None

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        values = zip(*rows, strict=True) if rows else [()] * len(self._names)
        arrays = [
            _declared(self._pa, name, cells, self._format) for name, cells in zip(self._declared, values, strict=True)
        ]
        batch = self._pa.record_batch(arrays, names=self._names)
        if self._writer is None:
            self._writer = self._pa.ipc.new_stream(self._sink, batch.schema)
        self._writer.write_batch(batch)
        return self._sink.take()

    def end(self) -> bytes:
        self._writer.close()
        return self._sink.take()


class _Sink:
    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise InvalidSettings(missing_package_message("pyarrow", "arrow")) from None
    return pa


def _declared(pa: Any, name: str, values: Sequence[Any], format_: Format) -> Any:
    found = _DECIMAL.fullmatch(name)
    if found is None and name not in _DECLARED:
        raise InvalidSettings(
            f"{name!r} is not an Arrow type that a driver may declare; use one of {', '.join(_DECLARED)}, or a decimal "
            "such as 'decimal(9, 2)'"
        )
    if name == "string":
        return _text(pa, values, format_)
    if found is not None:
        kinds, arrow_type = _NUMBERS, pa.decimal128(int(found[1]), int(found[2]))
    else:
        kinds, make = _DECLARED[name]
        arrow_type = make(pa)
    # Without this check pyarrow would read a Decimal as a float, True as 1 and a string as bytes.
    if not kinds.issuperset({*map(type, values)} - {type(None)}):
        values = [value if type(value) in kinds else None for value in values]
    if found is not None:
        values = [None if value is None else Decimal(value) for value in values]
    try:
        return pa.array(values, arrow_type)
    except (ValueError, OverflowError, pa.ArrowException):
        return pa.array([value if _fits(pa, value, arrow_type) else None for value in values], arrow_type)


def _fits(pa: Any, value: Any, arrow_type: Any) -> bool:
    try:
        pa.scalar(value, arrow_type)
    except (ValueError, OverflowError, pa.ArrowException):
        return False
    return True


def _inferred(pa: Any, word: str | None, values: Sequence[Any], format_: Format) -> Any:
    # The values decide. If they have several types, or one of them does not fit, all become strings.
    kinds, make = _DECLARED[_inferred_name(word, values)]
    classes = {*map(type, values)} - {type(None)}
    with suppress(ValueError, OverflowError, pa.ArrowException):
        if word == "decimal" and classes <= {Decimal}:
            return _decimals(pa, values)
        if classes <= kinds:
            return pa.array(values, make(pa))
    return _text(pa, values, format_)


def _inferred_name(word: str | None, values: Sequence[Any]) -> str:
    with_offset = {value.tzinfo is not None for value in values if isinstance(value, datetime | time)}
    if True not in with_offset:
        return ARROW_TYPES.get(word, "string")
    return "timestamptz" if word == "datetime" and len(with_offset) == 1 else "string"


def _text(pa: Any, values: Sequence[Any], format_: Format) -> Any:
    text = TextWriter(format_).text
    return pa.array([None if value is None else text(value) for value in values], pa.string())


def _decimals(pa: Any, values: Sequence[Any]) -> Any:
    numbers = [value if value is None or is_finite(value) else None for value in values]
    return (
        pa.array(numbers)
        if any(number is not None for number in numbers)
        else pa.array(numbers, pa.decimal128(MAX_DIGITS))
    )


_NUMBERS: Final = frozenset({int, Decimal})
_DECIMAL: Final = re.compile(r"decimal\((\d+), (\d+)\)")
_DECLARED: Final[Mapping[str, tuple[frozenset[type], Callable[[Any], Any]]]] = {
    "bool": (frozenset({bool}), lambda pa: pa.bool_()),
    "int64": (frozenset({int}), lambda pa: pa.int64()),
    "uint64": (frozenset({int}), lambda pa: pa.uint64()),
    "double": (frozenset({int, float}), lambda pa: pa.float64()),
    "binary": (frozenset({bytes}), lambda pa: pa.binary()),
    "date32": (frozenset({date}), lambda pa: pa.date32()),
    "time64": (frozenset({time}), lambda pa: pa.time64("us")),
    "duration": (frozenset({timedelta}), lambda pa: pa.duration("us")),
    "timestamp": (frozenset({datetime}), lambda pa: pa.timestamp("us")),
    "timestamptz": (frozenset({datetime}), lambda pa: pa.timestamp("us", "UTC")),
    "string": (frozenset(), lambda pa: pa.string()),
}
"""Name of a type that a driver may declare → the Python types of its values, and a function that makes the Arrow type.
Drivers may also declare decimals, such as ``decimal(9, 2)``."""
ARROW_TYPES: Final[Mapping[str | None, str]] = {
    "boolean": "bool",
    "integer": "int64",
    "float": "double",
    "bytes": "binary",
    "date": "date32",
    "time": "time64",
    "datetime": "timestamp",
    "interval": "duration",
}
"""Column type → Arrow type. Some engines declare other types."""
MAX_DIGITS: Final = 38
"""Maximum number of digits in an Arrow decimal of 128 bits."""
# The types of other columns depend on their values: a time, for example, may have an offset.
_CERTAIN: Final = frozenset({"boolean", "integer", "float", "bytes", "date"})
"""Column types that determine the Arrow type."""
