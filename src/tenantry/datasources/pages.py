from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID

from tenantry.datasources.wrapped_templates import BindValue, WrappedTemplate, select_around
from tenantry.errors import InvalidSettings, QueryFailed, UnbindableValue
from tenantry.groups import Record, UserGroup
from tenantry.sql import PARAMSTYLES, BoundSQL, SQLTemplate

if TYPE_CHECKING:
    from tenantry.datasources.sources import DataSources

_compiled = lru_cache(maxsize=256)(SQLTemplate)

QUOTES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sqlite", "duckdb", "postgresql", "redshift"), '"'),
    **dict.fromkeys(("mysql", "mariadb"), "`"),
}
"""The quotation mark around column names, by dialect. Pages work only on these dialects."""
PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Matches names that need no escapes within quotation marks. Pages can be ordered only by columns with such names."""
_LARGEST: Final = 2**63 - 1

_KINDS: Final[Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "i": (int, str, int),
    "s": (str, str, str),
    "f": (float, float.hex, float.fromhex),
    "n": (Decimal, str, Decimal),
    "t": (datetime, datetime.isoformat, datetime.fromisoformat),
    "d": (date, date.isoformat, date.fromisoformat),
    "c": (time, time.isoformat, time.fromisoformat),
    "u": (UUID, str, UUID),
}
"""Values that a page cursor can hold: letter of the type → class, writer and reader."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of rows. Fields:
    - ``next``: the value of ``after`` for the next page; None on the last page.
    - ``total``: the number of rows on all pages; None if it was not requested."""

    rows: list[dict[str, Any]]
    next: str | None
    total: int | None = None


async def fetch_page(
    sources: DataSources,
    group: UserGroup,
    schema: str,
    template: SQLTemplate | str,
    variables: Mapping[str, Any] | Record | None = None,
    *,
    order: Sequence[str],
    size: int = 100,
    after: str | None = None,
    offset: int = 0,
    total: Literal["none", "exact"] = "none",
) -> Page:
    """Fetch ``size`` rows of ``template``, sorted by the columns ``order`` (``-name``: descending).

    For the next page, pass ``page.next`` as ``after``, with the same ``order``. Alternatively, ``offset`` skips that
    many rows, which takes longer for later pages. No two rows may have equal values in all ``order`` columns, and no
    ``order`` column may be NULL. With ``total="exact"``, a second query counts all rows.

    Raises the errors of ``fetch``, and:
    - InvalidSettings for an invalid order, size, offset or total, or a dialect that does not support pages
    - UnbindableValue if ``after`` is not the ``next`` of a page, or that page had another number of ``order`` columns
    - QueryFailed if an order column is NULL, or has values other than numbers, strings, dates, times and UUIDs
    """
    compiled = template if isinstance(template, SQLTemplate) else _compiled(template)
    window = PagedTemplate(compiled, order, size, after, offset)
    if total not in ("none", "exact"):
        raise InvalidSettings(f"total is {total!r}; it takes 'none' or 'exact'")
    result = await sources.query(group, schema, window, variables)
    found = result.dicts()
    rows = found[:size]
    missing = set(window.names).difference(result.names)
    if missing:
        raise InvalidSettings(f"the page is ordered by {', '.join(sorted(missing))}, but the query has no such column")
    keys = [tuple(row[name] for name in window.names) for row in rows]
    if any(value is None for key in keys for value in key):
        raise QueryFailed(
            "the page is ordered by a column that contains NULL: order by other columns, or replace NULL in the query "
            "with coalesce(…)"
        )
    following = _write_cursor(keys[-1]) if len(found) > size else None
    if total == "none":
        return Page(rows, following)
    counted = await sources.query(group, schema, CountTemplate(compiled), variables)
    return Page(rows, following, counted.rows[0][0])


class CountTemplate(WrappedTemplate):
    def wrap(self, bound: BoundSQL) -> BoundSQL:
        _check_dialect(bound)
        return select_around(bound, "select count(*) as total", lambda _: "")


class PagedTemplate(WrappedTemplate):
    """Selects one page of another template's rows, and one more row if there is a next page."""

    def __init__(self, template: SQLTemplate, order: Sequence[str], size: int, after: str | None, offset: int) -> None:
        super().__init__(template)
        if (
            isinstance(order, str)
            or not order
            or not all(PLAIN_NAME.fullmatch(name.removeprefix("-")) for name in order)
        ):
            raise InvalidSettings("the order of a page must be a list of column names, such as ['-placed', 'id']")
        if type(size) is not int or not 0 < size < _LARGEST:
            raise InvalidSettings(f"size is {size!r}; it takes a whole number above 0")
        if type(offset) is not int or not 0 <= offset <= _LARGEST or (offset and after is not None):
            raise InvalidSettings(
                f"offset is {offset!r}; it must be a whole number, 0 or greater, and 0 if `after` is given"
            )
        self.names: tuple[str, ...] = tuple(name.removeprefix("-") for name in order)
        self._directions = ["desc" if name.startswith("-") else "asc" for name in order]
        self._limits = (size + 1, offset)
        self._key = None if after is None else _read_cursor(after, len(self.names))

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        _check_dialect(bound)
        quote = QUOTES[bound.dialect]
        names = [f"{quote}{name}{quote}" for name in self.names]

        def clauses(bind_value: BindValue) -> str:
            condition = "" if self._key is None else f" where {self._beyond(names, self._key, bind_value)}"
            order = ", ".join(f"{name} {way}" for name, way in zip(names, self._directions, strict=True))
            size, offset = map(bind_value, self._limits)
            return f"{condition} order by {order} limit {size} offset {offset}"

        return select_around(bound, "select *", clauses)

    def _beyond(self, names: Sequence[str], key: Sequence[Any], bind_value: BindValue) -> str:
        # A condition such as `a >= 1 and (a > 1 or (a = 1 and (b > 2)))`. Its first comparison can use an index.
        signs = ["<" if way == "desc" else ">" for way in self._directions]
        if len(names) == 1:
            return f"{names[0]} {signs[0]} {bind_value(key[0])}"
        text = f"{names[0]} {signs[0]}= {bind_value(key[0])} and ("
        for name, sign, value in zip(names[:-1], signs, key, strict=False):
            text += f"{name} {sign} {bind_value(value)} or ({name} = {bind_value(value)} and ("
        text += f"{names[-1]} {signs[-1]} {bind_value(key[-1])}"
        return text + "))" * (len(names) - 1) + ")"


def has_pages(engine: str) -> bool:
    return engine in QUOTES


def _check_dialect(bound: BoundSQL) -> None:
    if bound.dialect not in QUOTES or PARAMSTYLES[bound.paramstyle].named:
        raise InvalidSettings(f"pages do not work on {bound.dialect}; these dialects support them: {', '.join(QUOTES)}")


def _write_cursor(key: Sequence[Any]) -> str:
    written = []
    for value in key:
        for letter, (kind, write, _) in _KINDS.items():
            if isinstance(value, kind) and not isinstance(value, bool):
                written.append([letter, write(value)])  # the letter is the type, for engines with typed parameters
                break
        else:
            raise QueryFailed(
                f"the page is ordered by a column with values of the type {type(value).__name__}: order by numbers, "
                "strings, dates, times or UUIDs"
            )
    return urlsafe_b64encode(json.dumps(written, separators=(",", ":")).encode()).decode().rstrip("=")


def _read_cursor(text: str, width: int) -> tuple[Any, ...]:
    key: tuple[Any, ...] = ()
    try:
        parts = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        key = tuple(_KINDS[letter][2](value) for letter, value in parts)
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, RecursionError):
        pass  # the error is raised below, without the value
    if len(key) != width:
        raise UnbindableValue("`after` does not belong to this order: pass `next` of the previous page", name="after")
    return key
