from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from itertools import repeat
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

# Few enough for the processor's cache, enough to make the cost of the call negligible.
CHUNK: Final = 1_000
"""Rows to encode in one call."""

_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    str: "text",
    bytes: "bytes",
    date: "date",
    datetime: "datetime",
    time: "time",
    timedelta: "interval",
    UUID: "uuid",
    list: "list",
    tuple: "list",
    dict: "struct",
}


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column's name and its type: boolean, integer, decimal, float, text, bytes, date, time, datetime, interval,
    uuid, json, list, struct, range, mixed, or None if the type is unknown."""

    name: str
    type: str | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The rows of one query. Fields:
    - ``names`` are unique.
    - ``rows`` are tuples of the driver's values.
    - ``types``: the column types that the engine reports, named as in ResultColumn.
    - ``as_of``: when the source was queried (aware, UTC).
    - ``size``: the memory that the rows take, in bytes; None if it was not counted.
    - ``arrow_types``: the Arrow type of each column, or None if the engine does not know it.
    """

    names: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    types: Sequence[str | None] | None = None
    as_of: datetime | None = None
    size: int | None = None
    arrow_types: Sequence[str | None] | None = None

    @classmethod
    def of_dicts(cls, dicts: Sequence[Mapping[str, Any]]) -> Result:
        """Convert dicts. Raises ValueError if their keys differ."""
        names = tuple(dicts[0]) if dicts else ()
        if any(len(row) != len(names) for row in dicts):
            raise ValueError("all rows of a result must have the same columns")
        try:
            rows: list[tuple[Any, ...]]
            if len(names) > 1:
                rows = list(map(itemgetter(*names), dicts))
            else:
                rows = [tuple(row[name] for name in names) for row in dicts]
        except KeyError:
            raise ValueError("all rows of a result must have the same columns") from None
        return cls(names, rows)

    @cached_property
    def columns(self) -> tuple[ResultColumn, ...]:
        """The columns. A column for which the engine reports no type gets the common type of its values."""
        return _columns(tuple(self.names), tuple(self.types or ()), self.classes)

    @cached_property
    def classes(self) -> tuple[frozenset[type], ...]:
        """The Python classes of each column's values; an empty set for a column whose type the engine reports."""
        types = self.types or [None] * len(self.names)
        if not self.rows or all(types):
            return (_NO_CLASSES,) * len(types)
        columns = zip(types, zip(*self.rows, strict=False), strict=False)
        return tuple([_NO_CLASSES if engine_type else frozenset(map(type, values)) for engine_type, values in columns])

    def dicts(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        return dict_maker(len(self.names))(self.rows, *self.names)

    def only(self, names: Collection[str]) -> Result:
        """Return a Result with only these columns, in the order of this Result. Unknown names are ignored."""
        kept = positions(self.names, names)
        if len(kept) == len(self.names):
            return self
        types, arrow_types = (each and [each[position] for position in kept] for each in (self.types, self.arrow_types))
        return replace(
            self,
            names=[self.names[position] for position in kept],
            rows=chooser(kept)(self.rows),
            types=types,
            size=None,
            arrow_types=arrow_types,
        )

    def chunks(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yield the rows in parts of ``CHUNK`` rows."""
        return chunks(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:  # without values, because it may be logged
        return f"<Result of {len(self.names)} columns and {len(self.rows)} rows>"


@lru_cache(maxsize=512)
def _columns(
    names: tuple[str, ...], types: tuple[str | None, ...], classes: tuple[frozenset[type], ...]
) -> tuple[ResultColumn, ...]:
    found = zip(names, types or repeat(None), classes, strict=False)
    return tuple(ResultColumn(name, engine_type or _common_type(of_values)) for name, engine_type, of_values in found)


def _common_type(classes: frozenset[type]) -> str | None:
    kinds = {_type_of(each) for each in classes if each is not _NONE}
    if len(kinds) > 1:
        return "float" if kinds == {"float", "integer"} else "mixed"
    return kinds.pop() if kinds else None


_NONE: Final = type(None)
_NO_CLASSES: Final = frozenset[type]()


def positions(names: Sequence[str], wanted: Collection[str]) -> list[int]:
    return [position for position, name in enumerate(names) if name in wanted]


def chooser(kept: Sequence[int]) -> Callable[[Iterable[tuple[Any, ...]]], list[tuple[Any, ...]]]:
    if len(kept) > 1:
        return partial(_mapped, itemgetter(*kept))
    return lambda rows: [tuple(row[position] for position in kept) for row in rows]


def _mapped(pick: Callable[[Any], Any], rows: Iterable[Any]) -> list[Any]:
    return list(map(pick, rows))


def chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    if 0 < len(rows) <= CHUNK:
        return iter((rows,))
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))


def is_range(value: object) -> bool:
    return hasattr(value, "lower_inc") and hasattr(value, "upper_inc")


def _type_of(kind: type) -> str:
    known = next((_TYPES[each] for each in kind.__mro__ if each in _TYPES), None)
    return known or ("range" if is_range(kind) else "text")


@lru_cache(maxsize=512)
def dict_maker(width: int) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that makes one dict per row, from rows and ``width`` names. It raises ValueError for a row
    with another number of values."""
    if not width:
        return _empty_dicts
    names = [f"n{number}" for number in range(width)]
    values = [f"v{number}" for number in range(width)]
    items = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
    code = f"lambda rows, {', '.join(names)}: [{{{items}}} for {', '.join(values)}, in rows]"
    maker: Callable[..., list[dict[str, Any]]] = eval(code)  # noqa: S307  # the code contains only generated names
    return maker


def _empty_dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [{} for _ in rows]
