"""Result: the rows of one query as tuples, with the names and types of their columns."""

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

CHUNK: Final = 1_000
"""Rows that are encoded at once: few enough to stay in the processor's cache, enough to forget what a call costs."""

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
    """A column's name and type: one of boolean, integer, decimal, float, text, bytes, date, time, datetime, interval,
    uuid, json, list, struct, range, mixed; None where nothing says it, as in a column without any value."""

    name: str
    type: str | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The rows of one query.

    ``names``: those of the columns, no two alike. ``rows``: one tuple each, of what the driver gives (int, str,
    Decimal, date, bytes, …). ``types``: for each column what the engine says, or None where it says nothing; without
    it, nothing is said of any. ``as_of``: when the data source was asked (aware, UTC), which may be a while ago; None
    where nobody said it. ``size``: bytes that the values take in memory, where they were counted.
    """

    names: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    types: Sequence[str | None] | None = None
    as_of: datetime | None = None
    size: int | None = None

    @classmethod
    def of_dicts(cls, dicts: Sequence[Mapping[str, Any]]) -> Result:
        """Of rows as ``DataSources.fetch`` gives them. Raises ValueError when they have not all the same names."""
        names = tuple(dicts[0]) if dicts else ()
        if any(len(row) != len(names) for row in dicts):
            raise ValueError("the rows of a result have the same columns")
        try:
            rows: list[tuple[Any, ...]]
            if len(names) > 1:
                rows = list(map(itemgetter(*names), dicts))
            else:
                rows = [tuple(row[name] for name in names) for row in dicts]
        except KeyError:
            raise ValueError("the rows of a result have the same columns") from None
        return cls(names, rows)

    @cached_property
    def columns(self) -> tuple[ResultColumn, ...]:
        """Each with its type: the engine's word, else that of its values, which are looked at once."""
        return tuple(
            ResultColumn(name, self._type_of_values(position) if engine_type is None else engine_type)
            for position, (name, engine_type) in enumerate(zip(self.names, self.types or repeat(None), strict=False))
        )

    def dicts(self) -> list[dict[str, Any]]:
        """One dict a row, in the order of the columns."""
        return dict_maker(len(self.names))(self.rows, *self.names)

    def only(self, names: Collection[str]) -> Result:
        """The columns of these names, in the order of the result. A name that it lacks is left out."""
        kept = positions(self.names, names)
        if len(kept) == len(self.names):
            return self
        types = self.types and [self.types[position] for position in kept]
        return replace(
            self,
            names=[self.names[position] for position in kept],
            rows=chooser(kept)(self.rows),
            types=types,
            size=None,
        )

    def chunks(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows, at most ``CHUNK`` at once."""
        return chunks(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:  # without values: it may end in a log
        return f"<Result of {len(self.names)} columns and {len(self.rows)} rows>"

    def _type_of_values(self, position: int) -> str | None:
        kinds = {_type_of(kind) for kind in set(map(type, map(itemgetter(position), self.rows))) if kind is not _NONE}
        if len(kinds) > 1:
            return "float" if kinds == {"float", "integer"} else "mixed"
        return kinds.pop() if kinds else None


_NONE: Final = type(None)


def positions(names: Sequence[str], wanted: Collection[str]) -> list[int]:
    """The positions of the wanted names."""
    return [position for position, name in enumerate(names) if name in wanted]


def chooser(kept: Sequence[int]) -> Callable[[Iterable[tuple[Any, ...]]], list[tuple[Any, ...]]]:
    """A function that keeps these positions of each row."""
    if len(kept) > 1:
        return partial(_mapped, itemgetter(*kept))
    return lambda rows: [tuple(row[position] for position in kept) for row in rows]


def _mapped(pick: Callable[[Any], Any], rows: Iterable[Any]) -> list[Any]:
    return list(map(pick, rows))


def chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """A sequence in pieces of ``CHUNK``."""
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))


def is_range(value: object) -> bool:
    """Whether it is a range as drivers of PostgreSQL give it: each has a class of its own."""
    return hasattr(value, "lower_inc") and hasattr(value, "upper_inc")


def _type_of(kind: type) -> str:
    """The word for a class or the nearest one that it is made of."""
    known = next((_TYPES[each] for each in kind.__mro__ if each in _TYPES), None)
    return known or ("range" if is_range(kind) else "text")


@lru_cache(maxsize=512)
def dict_maker(width: int) -> Callable[..., list[dict[str, Any]]]:
    """A function of rows and ``width`` names that makes one dict a row: 2 to 4 times as fast as ``dict(zip(…))``.

    The code that is compiled holds numbered names alone: the columns' own are arguments of it. Raises ValueError for a
    row of another width.
    """
    if not width:
        return _empty_dicts
    names = [f"n{number}" for number in range(width)]
    values = [f"v{number}" for number in range(width)]
    items = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
    code = f"lambda rows, {', '.join(names)}: [{{{items}}} for {', '.join(values)}, in rows]"
    maker: Callable[..., list[dict[str, Any]]] = eval(code)  # noqa: S307  # nothing in it is anybody's text
    return maker


def _empty_dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [{} for _ in rows]
