"""Rows: what every engine answers with, in one shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenantry.datasources.source import Rows, refused, too_many_rows


def to_dicts(source_id: str, columns: Sequence[str], rows: Sequence[Iterable[Any]], limit: int) -> Rows:
    """One dict a row, in the order of the columns; values are what the driver gives (int, str, Decimal, date, bytes…).

    Raises TooManyRows when there are more rows than ``limit``, QueryFailed when two columns have one name: the second
    would silently replace the first.
    """
    if len(rows) > limit:
        raise too_many_rows(source_id, limit)
    _check_names(source_id, columns)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _check_names(source_id: str, columns: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(columns, 1):
        first = seen.setdefault(name, position)
        if first != position:
            # Positions, not names: with client-side binding the name of an unnamed column is the value itself.
            raise refused(source_id, f"columns {first} and {position} have the same name; name one of them with AS")
