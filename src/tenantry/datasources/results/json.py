"""JSON and NDJSON (RFC 8259), written with msgspec."""

# Values that msgspec would not write as we want are converted first. This is slow, so columns without such values are
# not converted.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from uuid import UUID

from tenantry.datasources.results.format import (
    DEFAULT_FORMAT,
    MAX_SAFE_INTEGER,
    Format,
    clean_text,
    is_finite,
    local_time,
    missing_package_message,
    scalar_text,
)
from tenantry.datasources.results.result import CHUNK, Result, chunks, dict_maker
from tenantry.errors import InvalidSettings, QueryFailed

if TYPE_CHECKING:
    import msgspec

Rows: TypeAlias = Result | Sequence[Mapping[str, Any]]
"""A Result, or rows as ``DataSources.fetch`` returns them."""

# msgspec writes NaN and infinity as null, as `to_json` must.
_NATIVE: Final = frozenset({str, bool, type(None), float, date, datetime, time, timedelta, UUID})
"""Types whose values need no conversion."""
_NATIVE_WORDS: Final = frozenset({"text", "boolean", "float", "date", "datetime", "time", "interval", "uuid"})
_CHECKED_WORDS: Final[Mapping[str, type]] = {"integer": int, "decimal": Decimal}
"""Column types whose values need conversion only in some cases → the class of the values."""
_CHECKED: Final = frozenset(_CHECKED_WORDS.values())
_PERHAPS_TIMES: Final = frozenset({"datetime", None})
"""Types of columns that may contain datetimes. None: unknown."""
_NESTED: Final = frozenset({list, dict, tuple})
_CONTAINERS: Final = (list, tuple, set, frozenset)
_AS_JSON: Final = (dict, *_CONTAINERS)
_UNWRITABLE: Final = (TypeError, UnicodeEncodeError)
"""Raised by msgspec for an unknown type of a value or key, and for a lone surrogate."""

_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"0123456789", b"0000000000")
_LONG_NUMBER: Final = b"0" * len(str(MAX_SAFE_INTEGER))


def to_json(rows: Rows, format_: Format = DEFAULT_FORMAT) -> bytes:
    """Write an array with one object per row, in UTF-8.

    Dates become ISO 8601 strings, UUIDs and intervals become strings, NaN and infinity become null, and lone surrogates
    become U+FFFD. ``format_`` applies to decimals, large integers and datetimes with a zone. Raises InvalidSettings
    without msgspec (``pip install 'tenantry[json]'``), and QueryFailed for a value that is nested too deeply. All dicts
    must have the same keys; otherwise, this may raise ValueError.
    """
    return b"".join(_array_parts(_parts(rows, format_, "encode")))


def json_row_parts(result: Result, format_: Format = DEFAULT_FORMAT) -> Iterator[bytes | memoryview]:
    """Yield the parts of a JSON array. Each row is an array of values, not an object. Otherwise like ``to_json``."""
    writer = JSONWriter(result.names, format_, types=result.types, classes=result.classes)
    parts = map(writer.write, result.chunks())
    return parts if 0 < len(result) <= CHUNK else _array_parts(parts)


def to_ndjson(rows: Rows, format_: Format = DEFAULT_FORMAT) -> bytes:
    """Like ``to_json``, but one object per line."""
    return b"".join(_parts(rows, format_, "encode_lines"))


class JSONWriter:
    """Writes rows part by part. ``method``: msgspec's ``encode`` or ``encode_lines``. Each row becomes an object, or an
    array if ``classes`` are given (``Result.classes``). Raises the errors of ``to_json``."""

    def __init__(
        self,
        names: Sequence[str],
        format_: Format,
        method: str = "encode",
        types: Sequence[str | None] | None = None,
        classes: tuple[frozenset[type], ...] | None = None,
    ) -> None:
        self._words = types or [None] * len(names)
        self._format = format_
        self._encoder = _encoder(format_.exact_numbers)
        self._encode: Callable[[Any], bytes] = getattr(self._encoder, method)
        self._objects = _object_maker(tuple(map(clean_text, names))) if classes is None else _as_arrays
        times = format_.zone is not None
        self._checks = None if classes is None else _checks(tuple(self._words), classes, converts_times=times)

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        if self._checks is not None:
            try:
                for position, kind in self._checks:
                    if not self._writes(kind, [row[position] for row in rows]):
                        break
                else:
                    return self._encode(rows)
            except (*_UNWRITABLE, ArithmeticError):
                pass  # a value that is not of the engine's type, or a lone surrogate
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        if self._format.zone is not None:
            columns = [*map(self._local, columns, self._words)]
        if not columns:
            return self._encode([{}] * len(rows))
        try:
            try:
                return self._encode(self._objects([*map(self._column, columns, self._words)]))
            except _UNWRITABLE:
                return self._encode(self._objects([map(self._plain, column) for column in columns]))
        except RecursionError:
            pass
        raise _too_deep()

    def end(self) -> bytes:
        return b""

    def _local(self, column: Sequence[Any], word: str | None) -> Sequence[Any]:
        zone = self._format.zone
        if zone is None or word not in _PERHAPS_TIMES:
            return column
        return [local_time(value, zone) for value in column]

    def write_value(self, value: Any) -> bytes:
        try:
            return self._encoder.encode(self._plain(value))
        except RecursionError:
            pass
        raise _too_deep()

    def write_unchanged(self, rows: Sequence[Any]) -> bytes | None:
        """Return the rows or values as JSON, or None if a value may need a conversion."""
        try:
            text = self._encode(rows)
        except (*_UNWRITABLE, RecursionError):
            return None
        # Search the output for values that need a conversion: long integers, and Decimals that are NaN or infinity. The
        # search also finds long floats, and strings that contain these words; this costs only time.
        if self._format.exact_numbers == "text" and _LONG_NUMBER in text.translate(_DIGITS_AS_ZEROS):
            return None
        if b"N" in text and b"NaN" in text:  # first search for one byte, which is much faster and mostly finds nothing
            return None
        return None if b"I" in text and b"Infinity" in text else text

    def _column(self, column: Sequence[Any], word: str | None) -> Iterable[Any]:
        if word in _NATIVE_WORDS:
            return column
        kind = _CHECKED_WORDS.get(word or "")
        if kind is not None:
            try:
                return column if self._writes(kind, column) else map(self._plain, column)
            except (TypeError, ArithmeticError):
                pass  # None, or a value that is not of the engine's type
        kinds = set(map(type, column))
        for kind in kinds - _NATIVE:
            values = column if len(kinds) == 1 else [value for value in column if type(value) is kind]
            if not self._writes(kind, values):
                return map(self._plain, column)
        return column

    def _writes(self, kind: type, values: Sequence[Any]) -> bool:
        if kind is int and self._format.exact_numbers == "text":
            return bool(max(values) <= MAX_SAFE_INTEGER and min(values) >= -MAX_SAFE_INTEGER)
        if kind is Decimal:
            return all(map(Decimal.is_finite, values))
        return kind in {int, bytes} or (kind in _NESTED and self.write_unchanged(values) is not None)

    def _plain(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return clean_text(value)
        if kind in _NATIVE:
            return value
        if isinstance(value, int):
            small = self._format.exact_numbers == "number" or abs(value) <= MAX_SAFE_INTEGER
            return int(value) if small else int.__repr__(value)
        if isinstance(value, Decimal | float):
            return value if is_finite(value) else None
        if isinstance(value, Mapping):
            return {scalar_text(key, self._format): self._plain(item) for key, item in value.items()}
        if isinstance(value, _CONTAINERS):
            return [*map(self._plain, value)]
        return scalar_text(value, self._format)


class TextWriter:
    """Writes any value as a string. Lists and objects become JSON; this may raise the errors of ``to_csv``."""

    def __init__(self, format_: Format) -> None:
        self._format = format_
        self._json: JSONWriter | None = None

    def text(self, value: Any) -> str:
        if not isinstance(value, _AS_JSON):
            return scalar_text(value, self._format)
        if self._json is None:
            self._json = JSONWriter((), self._format)
        return self._json.write_value(value).decode()


def _too_deep() -> QueryFailed:
    return QueryFailed("a value of the result is nested too deep to be written as JSON")


def _parts(rows: Rows, format_: Format, method: str) -> Iterator[bytes]:
    if isinstance(rows, Result):
        return map(JSONWriter(rows.names, format_, method, rows.types).write, rows.chunks())
    writer = JSONWriter(tuple(rows[0]) if rows else (), format_, method)
    return _parts_of_dicts(rows, writer, unchanged=format_.zone is None)


def _parts_of_dicts(dicts: Sequence[Mapping[str, Any]], writer: JSONWriter, *, unchanged: bool) -> Iterator[bytes]:
    for chunk in chunks(dicts):
        part = writer.write_unchanged(chunk) if unchanged else None
        unchanged = part is not None
        yield writer.write(Result.of_dicts(chunk).rows) if part is None else part


def _array_parts(parts: Iterable[bytes]) -> Iterator[bytes | memoryview]:
    begun = False
    for part in parts:
        if begun:
            yield b","
        yield memoryview(part)[begun:-1]
        begun = True
    yield b"]" if begun else b"[]"


@lru_cache(maxsize=16)
def _encoder(exact_numbers: Literal["number", "text"]) -> msgspec.json.Encoder:
    try:
        import msgspec
    except ImportError:
        raise InvalidSettings(missing_package_message("msgspec", "json")) from None
    return msgspec.json.Encoder(decimal_format="number" if exact_numbers == "number" else "string")


@lru_cache(maxsize=512)
def _checks(
    words: tuple[str | None, ...], classes: tuple[frozenset[type], ...], *, converts_times: bool
) -> tuple[tuple[int, type], ...] | None:
    # Returns (position, class of the values) of each column whose values must be checked before msgspec may write whole
    # rows. Returns None if msgspec may not do so, because another column may need conversion.
    found: list[tuple[int, type]] = []
    for position, (word, kinds) in enumerate(zip(words, classes, strict=True)):
        has_times = word == "datetime" if word else datetime in kinds
        is_native = word in _NATIVE_WORDS if word else kinds <= _NATIVE
        if is_native and not (has_times and converts_times):
            continue
        kind = _CHECKED_WORDS.get(word) if word else next(iter(kinds))
        if kind not in _CHECKED or len(kinds) > 1:
            return None
        found.append((position, kind))
    return tuple(found)


def _as_arrays(columns: Sequence[Iterable[Any]]) -> list[Any]:
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=256)
def _object_maker(names: tuple[str, ...]) -> Callable[[Sequence[Iterable[Any]]], list[Any]]:
    import msgspec

    fields = [f"f{number}" for number in range(len(names))]
    try:
        row = msgspec.defstruct("Row", fields, rename=dict(zip(fields, names, strict=True)), gc=False)
    except ValueError:  # a name with a quote, a backslash or a control character
        return lambda columns: dict_maker(len(names))(zip(*columns, strict=True), *names)
    return lambda columns: list(map(row, *columns))
