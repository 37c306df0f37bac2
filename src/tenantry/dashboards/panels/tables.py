from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from tenantry.dashboards.definition.columns import Columns
from tenantry.datasources import PLAIN_NAME, CountTemplate, PagedTemplate, SchemaQuery, WrappedTemplate
from tenantry.datasources.results import Result
from tenantry.errors import InvalidParameter, InvalidSettings, QueryFailed, TooManyBytes, TooManyRows
from tenantry.sql import SQLTemplate

PAGE_SIZE: Final = 50
"""Default number of rows on a page."""

_WITHOUT_ORDER: Final = ("json", None)
"""Result types that an engine may be unable to sort. None: types for which Tenantry has no name."""
_PERHAPS_IN_ORDER: Final = ("text", "list")
"""Result types that can usually be sorted. But PostgreSQL, for example, also reports ``text`` for a point, which it
cannot sort."""

Ask: TypeAlias = Callable[[SQLTemplate | WrappedTemplate], Awaitable[Result]]


class TablePage(NamedTuple):
    rows: Result
    total: int
    """Number of rows on all pages."""
    extremes: Result | None = None
    """The smallest and the largest number of each column with bars, so that all pages have one scale. None if the table
    has one page, or if the database selected the page."""


async def fetch_table(
    ask: Ask, template: SQLTemplate, view: Mapping[str, Any], named: Columns, page: int, sort: str
) -> TablePage:
    """Fetch one page of a table. Pages count from 0.

    ``sort``: a column, or ``-name`` for descending order; by default, the view's ``sort`` or the order of the query.
    Viewers can sort by the columns in ``named``. If a result exceeds the source's limits, the database sorts it and
    selects the page.

    Raises:
    - TooManyRows or TooManyBytes if the result exceeds the limits, and the database cannot sort it or no column to
      sort by is known;
    - InvalidParameter for an unknown column;
    - the errors of ``DataSources.query``.
    """
    size = view.get("page", PAGE_SIZE)
    own = view.get("sort", "")
    sort = sort or own
    if named is not None and sort != own and sort.removeprefix("-") not in named:
        raise _unknown_column()
    try:
        whole = await ask(template)
    except (TooManyRows, TooManyBytes) as error:
        if not sort and not _names(view):  # without an order, the engine cannot select a page
            raise
        try:
            return await _page_by_engine(ask, template, view, named, sort, (size, page * size))
        except InvalidSettings as no_pages:
            raise type(error)(f"{error.message}; {no_pages.message}") from None
    if not sort and not page and len(whole) <= size:
        return TablePage(whole, len(whole))
    ordered = sorted_rows(whole, sort) if sort else whole.rows
    rows = replace(whole, rows=ordered[page * size : (page + 1) * size])
    return TablePage(rows, len(whole), _extremes(whole, view) if len(whole) > size else None)


def _extremes(whole: Result, view: Mapping[str, Any]) -> Result | None:
    names = [each["name"] for each in view.get("columns", ()) if each.get("bar") and each["name"] in whole.names]
    if not names:
        return None
    positions = [whole.names.index(name) for name in names]
    numbers = [[row[position] for row in whole.rows if _is_number(row[position])] for position in positions]
    types = whole.types and [whole.types[position] for position in positions]
    return Result(names, [tuple(pick(each, default=None) for each in numbers) for pick in (min, max)], types)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and value == value  # NaN has no place on a scale


async def _page_by_engine(
    ask: Ask, template: SQLTemplate, view: Mapping[str, Any], named: Columns, sort: str, limits: tuple[int, int]
) -> TablePage:
    """Let the engine sort and page. Raises InvalidSettings if it cannot page."""
    # Order by `sort`, then by all sortable columns in `named`, so that no row is on two pages.
    known = await _columns(ask, template, [sort] if sort else _names(view)[:1])
    if sort and sort.removeprefix("-") not in known.names:
        raise _unknown_column()
    in_order = [name for name in _names_in_order(known) if named is None or name in named]
    names = dict.fromkeys([*(name for name in _names(view) if name in in_order), *in_order])
    order = [sort, *(name for name in names if name != sort.removeprefix("-"))] if sort else [*names]
    size, offset = limits
    try:
        rows = await ask(PagedTemplate(template, order, size, None, offset))
    except QueryFailed:  # the engine cannot sort the column's type, such as PostgreSQL's point
        words = dict(zip(known.names, known.types or (), strict=False))
        sure = [name for name in order[1:] if name in _names(view) or words.get(name, "text") not in _PERHAPS_IN_ORDER]
        fewer = [order[0], *sure]
        rows = await ask(PagedTemplate(template, fewer, size, None, offset))
    total = (await ask(CountTemplate(template))).rows[0][0]
    return TablePage(replace(rows, rows=rows.rows[:size]), int(total))


async def _columns(ask: Ask, template: SQLTemplate, order: list[str]) -> Result:
    try:
        return await ask(SchemaQuery(template))
    except InvalidSettings:
        return await ask(PagedTemplate(template, order, 1, None, 0))


def _names_in_order(known: Result) -> list[str]:
    types = known.types if known.types is not None and any(known.types) else ["text"] * len(known.names)
    return [
        name
        for name, kind in zip(known.names, types, strict=True)
        if kind not in _WITHOUT_ORDER and PLAIN_NAME.fullmatch(name) and known.names.count(name) == 1
    ]


def _names(view: Mapping[str, Any]) -> list[str]:
    return [each["name"] for each in view.get("columns", ())]


def _unknown_column() -> InvalidParameter:
    return InvalidParameter("`sort` names a column that this table does not have", names=["sort"])


def sorted_rows(result: Result, sort: str) -> Sequence[tuple[Any, ...]]:
    """Sort rows by a column, nulls last."""
    name = sort.removeprefix("-")
    if name not in result.names:
        raise _unknown_column()
    position = result.names.index(name)
    there = [row for row in result.rows if row[position] is not None]
    try:
        there.sort(key=lambda row: _in_order(row[position]), reverse=sort != name)
    except TypeError:  # the values have several types
        there.sort(key=lambda row: str(row[position]), reverse=sort != name)
    return [*there, *(row for row in result.rows if row[position] is None)]


def _in_order(value: Any) -> Any:
    return (value.casefold(), value) if isinstance(value, str) else value
