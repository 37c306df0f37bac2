from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenantry.datasources import Limits
from tenantry.datasources.results import Format, Result, json_row_parts
from tenantry.editor.runs.ndjson import json_line

_FORMAT: Final = Format(exact_numbers="text")
Types = Sequence[str | None] | None


class RowLines:
    """Writes rows as lines ``{"columns": …}`` and ``{"rows": …}``, up to the limits. If the engine has no column types,
    later rows can change the type of a column: then the columns are written again."""

    def __init__(self, limits: Limits, names: Sequence[str], types: Types) -> None:
        self._limits = limits
        self._names = names
        self._types = types
        self._found: list[str | None] | None = None
        self._size = 0
        self.row_count: int = 0
        self.is_cut: bool = False
        """Whether there are more rows than the limits allow."""

    def write(self, rows: Sequence[tuple[object, ...]]) -> bytes:
        left = self._limits.row_limit - self.row_count
        if self.is_cut or len(rows) > left:
            self.is_cut = True
            rows = rows[: 0 if self._size > self._limits.max_bytes else left]
        result = Result(self._names, rows, self._types)
        written = self._columns(result)
        if rows:
            self.row_count += len(rows)
            written += b'{"rows":' + b"".join(json_row_parts(result, _FORMAT)) + b"}\n"
            self._size += len(written)
            self.is_cut = self.is_cut or self._size > self._limits.max_bytes
        return written

    def end(self) -> bytes:
        return b""

    def _columns(self, result: Result) -> bytes:
        found = [column.type for column in result.columns]
        if self._found is not None:
            found = [_common(*pair) for pair in zip(self._found, found, strict=True)]
        if found == self._found:
            return b""
        self._found = found
        return json_line({"columns": [{"name": n, "type": t} for n, t in zip(self._names, found, strict=True)]})


def _common(before: str | None, now: str | None) -> str | None:
    if before is None or now is None or before == now:
        return before or now
    return "float" if {before, now} == {"float", "integer"} else "mixed"
