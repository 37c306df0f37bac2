from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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


class ChunkWriter(Protocol):
    """Writes rows part by part. ``write`` is called at least once, even without rows. ``end`` is called last."""

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes: ...

    def end(self) -> bytes: ...


Types: TypeAlias = Sequence[str | None] | None


class MakeWriter(Protocol):
    def __call__(self, names: Sequence[str], types: Types, arrow_types: Types = None, /) -> ChunkWriter: ...


def chunk_writers(format_: str, options: Format = DEFAULT_FORMAT, *, formula_safe: bool = False) -> MakeWriter:
    """Return a function that makes writers. Raises InvalidSettings for an unknown format, or for ``formula_safe`` with
    a format other than CSV. The returned function raises InvalidSettings if a package is missing."""
    if formula_safe and format_ != "csv":
        raise InvalidSettings("formula_safe applies only to CSV: leave it out for other formats")
    match format_:
        case "json":
            return lambda names, types, _=None: _JSONChunks(JSONWriter(names, options, "encode", types))
        case "ndjson":
            return lambda names, types, _=None: JSONWriter(names, options, "encode_lines", types)
        case "csv":
            return lambda names, types, _=None: CSVWriter(names, options, formula_safe=formula_safe)
        case "arrow":
            return lambda names, types, arrow_types=None: ArrowWriter(names, types, arrow_types, options)
        case _:
            raise InvalidSettings(f"format is {format_!r}; it takes {', '.join(MEDIA_TYPES)}")


def narrowed(make_writer: MakeWriter, columns: Collection[str]) -> MakeWriter:
    def make(names: Sequence[str], types: Types, arrow_types: Types = None) -> ChunkWriter:
        kept = positions(names, columns)
        kept_types, kept_arrow_types = (each and [each[at] for at in kept] for each in (types, arrow_types))
        return _NarrowedChunks(make_writer([names[at] for at in kept], kept_types, kept_arrow_types), kept)

    return make


class _NarrowedChunks:
    def __init__(self, writer: ChunkWriter, kept: Sequence[int]) -> None:
        self._writer = writer
        self._choose = chooser(kept)

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        return self._writer.write(self._choose(rows))

    def end(self) -> bytes:
        return self._writer.end()


class _JSONChunks:
    def __init__(self, writer: JSONWriter) -> None:
        self._write = writer.write
        self._before = b"["

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        if not rows:
            return b""
        chunk = b"".join((self._before, memoryview(self._write(rows))[1:-1]))
        self._before = b","
        return chunk

    def end(self) -> bytes:
        return b"[]" if self._before == b"[" else b"]"
