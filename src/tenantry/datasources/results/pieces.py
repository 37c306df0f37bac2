"""Results in pieces: the formats, written as the rows come, for a body whose end nobody has seen when it begins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

from tenantry.datasources.results.arrow import ArrowWriter
from tenantry.datasources.results.csv import CSVWriter
from tenantry.datasources.results.format import DEFAULT_FORMAT, Format
from tenantry.datasources.results.json import JSONWriter
from tenantry.datasources.results.result import chooser, positions
from tenantry.errors import InvalidSettings

StreamFormat: TypeAlias = Literal["json", "ndjson", "csv", "arrow"]

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "arrow": "application/vnd.apache.arrow.stream",
}
"""Of each format."""


class PieceWriter(Protocol):
    """Writes a body piece by piece: ``write`` at least once, with rows or none, then ``end``."""

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        """Rows as tuples, and before the first ones what the body begins with."""
        ...

    def end(self) -> bytes:
        """What the body ends with."""
        ...


MakeWriter: TypeAlias = Callable[[Sequence[str], Sequence[str | None] | None], PieceWriter]
"""A function of the names and types of the columns."""


def piece_writers(format_: str, options: Format = DEFAULT_FORMAT, *, formula_safe: bool = False) -> MakeWriter:
    """What writes this format. Raises InvalidSettings for one that there is not, and for ``formula_safe`` without CSV;
    what it gives raises InvalidSettings where the package of the format is not installed."""
    if formula_safe and format_ != "csv":
        raise InvalidSettings("formula_safe is for CSV alone")
    match format_:
        case "json":
            return lambda names, types: _JSONPieces(JSONWriter(names, options, "encode", types))
        case "ndjson":
            return lambda names, types: _LinePieces(JSONWriter(names, options, "encode_lines", types))
        case "csv":
            return lambda names, types: _CSVPieces(CSVWriter(names, options, formula_safe=formula_safe))
        case "arrow":
            return lambda names, types: ArrowWriter(names, types, options)
        case _:
            raise InvalidSettings(f"format is {format_!r}; it takes {', '.join(MEDIA_TYPES)}")


def narrowed(make_writer: MakeWriter, columns: Collection[str]) -> MakeWriter:
    """The same writers for the columns of these names alone."""

    def make(names: Sequence[str], types: Sequence[str | None] | None) -> PieceWriter:
        kept = positions(names, columns)
        kept_types = types and [types[position] for position in kept]
        return _NarrowedPieces(make_writer([names[position] for position in kept], kept_types), kept)

    return make


class _NarrowedPieces:
    """Some columns of the rows that it is given."""

    def __init__(self, writer: PieceWriter, kept: Sequence[int]) -> None:
        self._writer = writer
        self._choose = chooser(kept)

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        return self._writer.write(self._choose(rows))

    def end(self) -> bytes:
        return self._writer.end()


class _JSONPieces:
    """An array: of each piece what is between its brackets."""

    def __init__(self, writer: JSONWriter) -> None:
        self._write = writer.write
        self._before = b"["

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        if not rows:
            return b""
        piece = b"".join((self._before, memoryview(self._write(rows))[1:-1]))
        self._before = b","
        return piece

    def end(self) -> bytes:
        return b"[]" if self._before == b"[" else b"]"


class _LinePieces:
    """One object a line: there is nothing around them."""

    def __init__(self, writer: JSONWriter) -> None:
        self._write = writer.write

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        return self._write(rows) if rows else b""

    def end(self) -> bytes:
        return b""


class _CSVPieces:
    """The header goes with the first rows."""

    def __init__(self, writer: CSVWriter) -> None:
        self._write = writer.write
        self._header = writer.header()

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        header, self._header = self._header, b""
        return header + (self._write(rows) if rows else b"")

    def end(self) -> bytes:
        return b""
