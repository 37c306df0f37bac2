"""query_many: more rows than one query may give, for a program that makes few of them at once.

They come as a stream does, piece by piece and within its limits, so a source is held no longer than its reader takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tenantry.datasources.limits import count_bytes
from tenantry.errors import TooManyBytes
from tenantry.groups import Record, UserGroup
from tenantry.results import Result
from tenantry.sql import SQLTemplate

if TYPE_CHECKING:
    from tenantry.datasources.sources import DataSources

MAX_BYTES: Final = 256 * 1024 * 1024
"""Memory that the values may take: a million rows of a few numbers."""
_VALUE_BYTES: Final = 32


async def query_many(
    sources: DataSources,
    group: UserGroup,
    schema: str,
    template: SQLTemplate | str,
    variables: Mapping[str, Any] | Record | None = None,
) -> Result:
    """As ``DataSources.query``, within the limits of streams (``StreamLimits``) in place of those of one query. No
    other query is joined and no cache is asked. Raises as ``query`` does."""
    collected = _Collected()
    pieces = await sources.open_pieces(group, schema, template, variables, collected.begin)
    try:
        while await pieces.next() is not None:
            pass
    finally:
        pieces.close()
    return Result(collected.names, collected.rows, collected.types)


class _Collected:
    """A PieceWriter that keeps the rows and writes nothing."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.types: Sequence[str | None] | None = None
        self.rows: list[tuple[Any, ...]] = []
        self._left = MAX_BYTES

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None) -> _Collected:
        """Once, or again where a connection was lost before its first rows."""
        self.names, self.types, self._left = names, types, MAX_BYTES
        self.rows.clear()
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        self._left -= count_bytes(rows) + _VALUE_BYTES * len(rows) * len(self.names)
        if self._left < 0:
            raise TooManyBytes(f"the rows of this query take more than {MAX_BYTES} bytes: aggregate, or select less")
        self.rows += rows
        return b""

    def end(self) -> bytes:
        return b""
