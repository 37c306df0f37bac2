"""Arrow IPC, the stream form (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format), by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from tenantry.errors import InvalidSettings
from tenantry.results.format import DEFAULT, MAX_SAFE_INTEGER, Format, is_finite, missing_package_message
from tenantry.results.json import Rows
from tenantry.results.result import Result, ResultColumn
from tenantry.results.text import TextWriter


def to_arrow(rows: Rows, format_: Format = DEFAULT) -> bytes:
    """A schema and one record batch.

    A column whose values are all of one type has Arrow's type for it: int64 (a decimal where one has more bits),
    double, decimal of the precision that the values have, timestamp[us] (in UTC where they have an offset), date32,
    time64[us], duration[us], binary, bool. Everything else is text: UUIDs, lists and objects (as JSON), ranges, mixed
    columns. Raises InvalidSettings without pyarrow (``pip install 'tenantry[arrow]'``).
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise InvalidSettings(missing_package_message("pyarrow", "arrow")) from None
    result = rows if isinstance(rows, Result) else Result.of_dicts(rows)
    values = zip(*result.rows, strict=True) if result.rows else [()] * len(result.names)
    arrays = [_array(pa, column, cells, format_) for column, cells in zip(result.columns, values, strict=True)]
    batch = pa.record_batch(arrays, names=list(result.names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _array(pa: Any, column: ResultColumn, values: Sequence[Any], format_: Format) -> Any:
    """The values in Arrow's type for them, or all as text."""
    kinds, build = _BUILDERS.get(column.type or "", (frozenset(), None))
    # Without the check pyarrow would read a Decimal as a float, True as 1 and a text as bytes.
    if build is not None and kinds.issuperset({*map(type, values)} - {type(None)}):
        try:
            return build(pa, values)
        except (ValueError, OverflowError, pa.ArrowException):
            pass  # a value that this type does not hold
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
"""By the type of a column: the classes of its values, and what makes an array of them or raises for one that does not
fit."""
