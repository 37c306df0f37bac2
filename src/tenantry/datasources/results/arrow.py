"""Arrow IPC streams (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from tenantry.datasources.results.format import (
    DEFAULT_FORMAT,
    MAX_SAFE_INTEGER,
    Format,
    is_finite,
    missing_package_message,
)
from tenantry.datasources.results.json import Rows, TextWriter
from tenantry.datasources.results.result import Result, ResultColumn
from tenantry.errors import InvalidSettings, QueryFailed


def to_arrow(rows: Rows, format_: Format = DEFAULT_FORMAT) -> bytes:
    """Write a schema and one record batch.

    A column has the Arrow type that the engine declares (``Result.arrow_types``). A value that this type cannot hold,
    such as PostgreSQL's ``infinity`` in a timestamp, becomes null. The type of a column without a declared type depends
    on its values:

    - int64, decimal (also for integers of more than 64 bits), double, bool or binary
    - timestamp[us] (in UTC if the values have an offset), date32, time64[us] or duration[us]
    - string for all other columns, and for columns of mixed types; lists and objects are written as JSON

    Raises InvalidSettings without pyarrow (``pip install 'tenantry[arrow]'``).
    """
    pa = _pyarrow()
    result = rows if isinstance(rows, Result) else Result.of_dicts(rows)
    values = zip(*result.rows, strict=True) if result.rows else [()] * len(result.names)
    declared = result.arrow_types or [None] * len(result.names)
    arrays = [
        _array(pa, column, cells, format_) if name is None else _declared(pa, name, cells, format_)
        for name, column, cells in zip(declared, result.columns, values, strict=True)
    ]
    batch = pa.record_batch(arrays, names=list(result.names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


class ArrowWriter:
    """Writes a record batch for each part of the rows.

    The column types follow the rules of ``to_arrow``. For columns without a declared type, the first batch sets the
    type, with two exceptions: decimals become strings, and a column of an unknown type becomes strings if this batch
    has no values for it. Raises InvalidSettings without pyarrow.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[str | None] | None,
        arrow_types: Sequence[str | None] | None,
        format_: Format,
    ) -> None:
        self._pa = _pyarrow()
        self._names = tuple(names)
        self._types = types
        self._declared = arrow_types or [None] * len(names)
        self._format = format_
        self._sink = _Sink()
        self._columns: list[tuple[ResultColumn, Any]] = []
        self._writer: Any = None

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        """Write a batch, with the schema before the first one. Raises QueryFailed for a value that does not fit its
        column."""
        values = list(zip(*rows, strict=True)) if rows else [()] * len(self._names)
        if self._writer is None:
            arrays = self._begin(Result(self._names, rows, self._types).columns, values)
        else:
            arrays = [self._next(number, cells) for number, cells in enumerate(values)]
        self._writer.write_batch(self._pa.record_batch(arrays, names=list(self._names)))
        return self._sink.take()

    def end(self) -> bytes:
        self._writer.close()
        return self._sink.take()

    def _begin(self, columns: Sequence[ResultColumn], values: Sequence[Sequence[Any]]) -> list[Any]:
        arrays = []
        for column, name, cells in zip(columns, self._declared, values, strict=True):
            array = self._first(column, cells) if name is None else _declared(self._pa, name, cells, self._format)
            arrays.append(array)
            self._columns.append((column, array.type))
        schema = self._pa.schema([(name, array.type) for name, array in zip(self._names, arrays, strict=True)])
        self._writer = self._pa.ipc.new_stream(self._sink, schema)
        return arrays

    def _first(self, column: ResultColumn, cells: Sequence[Any]) -> Any:
        array = None
        if column.type not in _UNSURE or (column.type != "decimal" and any(cell is not None for cell in cells)):
            array = _typed(self._pa, column.type, cells)
        if array is None or self._pa.types.is_decimal(array.type):
            array = _text(self._pa, cells, self._format)
        return array

    def _next(self, number: int, values: Sequence[Any]) -> Any:
        column, arrow_type = self._columns[number]
        name = self._declared[number]
        if name is not None:
            return _declared(self._pa, name, values, self._format)
        if arrow_type == self._pa.string():
            return _text(self._pa, values, self._format)
        if not any(value is not None for value in values):
            return self._pa.nulls(len(values), arrow_type)
        array = _typed(self._pa, column.type, values)
        if array is None or array.type != arrow_type:
            raise QueryFailed(
                f"column {number + 1} has a value that does not fit the Arrow type of its first rows, {arrow_type}: "
                "cast the column to one type"
            )
        return array


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
    """Make an array of the declared type. A value that the type cannot hold becomes null."""
    found = _DECIMAL.fullmatch(name)
    if found is None and name not in _DECLARED:
        raise InvalidSettings(f"{name!r} is not an Arrow type that a driver may declare: {', '.join(_DECLARED)}")
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


def _array(pa: Any, column: ResultColumn, values: Sequence[Any], format_: Format) -> Any:
    array = _typed(pa, column.type, values)
    return _text(pa, values, format_) if array is None else array


def _typed(pa: Any, word: str | None, values: Sequence[Any]) -> Any:
    kinds, build = _BUILDERS.get(word or "", (frozenset(), None))
    # Without this check pyarrow would read a Decimal as a float, True as 1 and a string as bytes.
    if build is not None and kinds.issuperset({*map(type, values)} - {type(None)}):
        try:
            return build(pa, values)
        except (ValueError, OverflowError, pa.ArrowException):
            pass  # this type cannot hold the value
    return None


def _text(pa: Any, values: Sequence[Any], format_: Format) -> Any:
    text = TextWriter(format_).text
    return pa.array([None if value is None else text(value) for value in values], pa.string())


def _integers(pa: Any, values: Sequence[Any]) -> Any:
    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        return pa.array([None if value is None else Decimal(value) for value in values])


def _floats(pa: Any, values: Sequence[Any]) -> Any:
    if any(type(value) is int and abs(value) > MAX_SAFE_INTEGER for value in values):
        raise ValueError
    return pa.array(values, pa.float64())


def _decimals(pa: Any, values: Sequence[Any]) -> Any:
    numbers = [value if value is None or is_finite(value) else None for value in values]
    return pa.array(numbers) if any(number is not None for number in numbers) else pa.array(numbers, pa.decimal128(38))


def _datetimes(pa: Any, values: Sequence[Any]) -> Any:
    with_offset = {value.tzinfo is not None for value in values if value is not None}
    if len(with_offset) > 1:
        raise ValueError
    return pa.array(values, pa.timestamp("us", "UTC" if True in with_offset else None))


def _times(pa: Any, values: Sequence[Any]) -> Any:
    if any(value is not None and value.tzinfo is not None for value in values):
        raise ValueError  # the type has no offset
    return pa.array(values, pa.time64("us"))


def _of(name: str, *arguments: Any) -> Callable[[Any, Sequence[Any]], Any]:
    return lambda pa, values: pa.array(values, getattr(pa, name)(*arguments))


_BUILDERS: Final[Mapping[str, tuple[frozenset[type], Callable[[Any, Sequence[Any]], Any]]]] = {
    "boolean": (frozenset({bool}), _of("bool_")),
    "integer": (frozenset({int}), _integers),
    "float": (frozenset({int, float}), _floats),
    "decimal": (frozenset({Decimal}), _decimals),
    "bytes": (frozenset({bytes}), _of("binary")),
    "date": (frozenset({date}), _of("date32")),
    "datetime": (frozenset({datetime}), _datetimes),
    "time": (frozenset({time}), _times),
    "interval": (frozenset({timedelta}), _of("duration", "us")),
}
"""By column type: the Python types of its values, and a function that makes an Arrow array of them or raises."""

_UNSURE: Final = frozenset({None, "decimal", "datetime"})
"""Column types whose Arrow type depends on the values. It is unknown while all values are None."""

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
"""By the name of a declared type: the Python types of its values, and the Arrow type. ``decimal(9, 2)`` is declared
too."""
