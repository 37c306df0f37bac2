"""The rows of a table: one page of them, sorted, and how many there are in all.

A result that is within the limits of its source is asked for whole, so that its pages fit together and a cache serves
them all; it is sorted and cut here. Of a larger one the engine gives the page and the number.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from tenantry.dashboards.named_columns import Columns
from tenantry.datasources import PLAIN_NAME, CountTemplate, PagedTemplate
from tenantry.datasources.results import Result
from tenantry.datasources.wrapped import NoRowsTemplate, WrappedTemplate
from tenantry.errors import InvalidParameter, InvalidSettings, QueryFailed, TooManyBytes, TooManyRows
from tenantry.sql import SQLTemplate

PAGE_SIZE: Final = 50
"""Rows of a page, where the author says nothing else."""

_WITHOUT_ORDER: Final = ("json", None)
"""Types of columns that an engine may have no order for; None is one that it has no word of ours for."""
_PERHAPS_IN_ORDER: Final = ("text", "list")
"""Words that an engine's types without an order may have, too."""

Ask: TypeAlias = Callable[[SQLTemplate | WrappedTemplate], Awaitable[Result]]


async def fetch_table(
    ask: Ask, template: SQLTemplate, view: Mapping[str, Any], named: Columns, page: int, sort: str
) -> tuple[Result, int]:
    """The rows of ``page`` (from 0), and the number of all. ``sort``: a column, ``-name`` for the largest first; else
    that of the ``view``, else the query's own order, or that of the view's columns where the engine gives the page.
    A viewer sorts by the ``named`` columns; another column is only in the order that the view itself has.
    Raises as ``DataSources.query`` does, TooManyRows and TooManyBytes also on an engine without pages and where the
    author named no order, and InvalidParameter for another column, and for one that the rows do not have."""
    size = view.get("page", PAGE_SIZE)
    own = view.get("sort", "")
    sort = sort or own
    if named is not None and sort != own and sort.removeprefix("-") not in named:
        raise _unknown_column()
    try:
        whole = await ask(template)
    except (TooManyRows, TooManyBytes) as error:
        if not sort and not _names(view):  # the author named no order, and the engine has to sort all rows for one
            raise
        try:
            return await _page_by_engine(ask, template, view, named, sort, (size, page * size))
        except InvalidSettings as no_pages:
            raise type(error)(f"{error.message}; {no_pages.message}") from None
    ordered = sorted_rows(whole, sort) if sort else whole.rows
    return replace(whole, rows=ordered[page * size : (page + 1) * size]), len(whole)


async def _page_by_engine(
    ask: Ask, template: SQLTemplate, view: Mapping[str, Any], named: Columns, sort: str, limits: tuple[int, int]
) -> tuple[Result, int]:
    """Rows that are equal in the column of ``sort`` are in the order of all other ``named`` columns: else a row could
    be on two pages, or on none. Rows that are equal in all of these are the same to the viewer. Raises InvalidSettings
    on an engine without pages."""
    known = await _columns(ask, template, [sort] if sort else _names(view)[:1])
    if sort and sort.removeprefix("-") not in known.names:
        raise _unknown_column()
    in_order = [name for name in _names_in_order(known) if named is None or name in named]
    names = dict.fromkeys([*(name for name in _names(view) if name in in_order), *in_order])
    order = [sort, *(name for name in names if name != sort.removeprefix("-"))] if sort else [*names]
    size, offset = limits
    try:
        rows = await ask(PagedTemplate(template, order, size, None, offset))
    except QueryFailed:  # a type without an order that has no word of its own, as a point of PostgreSQL
        words = dict(zip(known.names, known.types or (), strict=False))
        sure = [name for name in order[1:] if name in _names(view) or words.get(name, "text") not in _PERHAPS_IN_ORDER]
        fewer = [order[0], *sure]
        rows = await ask(PagedTemplate(template, fewer, size, None, offset))
    total = (await ask(CountTemplate(template))).rows[0][0]
    return replace(rows, rows=rows.rows[:size]), int(total)


async def _columns(ask: Ask, template: SQLTemplate, order: list[str]) -> Result:
    """The names of all columns, and their types where the engine says them: of no row; of a few rows where an engine
    would run the query for none."""
    try:
        return await ask(NoRowsTemplate(template))
    except InvalidSettings:
        return await ask(PagedTemplate(template, order, 1, None, 0))


def _names_in_order(known: Result) -> list[str]:
    """The columns that rows can be sorted by: those of a plain name that no other has, and of a type with an order."""
    types = known.types if known.types is not None and any(known.types) else ["text"] * len(known.names)
    return [
        name
        for name, kind in zip(known.names, types, strict=True)
        if kind not in _WITHOUT_ORDER and PLAIN_NAME.fullmatch(name) and known.names.count(name) == 1
    ]


def _names(view: Mapping[str, Any]) -> list[str]:
    """The columns that the author named."""
    return [each["name"] for each in view.get("columns", ())]


def _unknown_column() -> InvalidParameter:
    return InvalidParameter("sort names a column that this table does not have", names=["sort"])


def sorted_rows(result: Result, sort: str) -> Sequence[tuple[Any, ...]]:
    """The rows in the order of a column; those without a value are last in both directions."""
    name = sort.removeprefix("-")
    if name not in result.names:
        raise _unknown_column()
    position = result.names.index(name)
    there = [row for row in result.rows if row[position] is not None]
    try:
        there.sort(key=lambda row: _in_order(row[position]), reverse=sort != name)
    except TypeError:  # values of several types
        there.sort(key=lambda row: str(row[position]), reverse=sort != name)
    return [*there, *(row for row in result.rows if row[position] is None)]


def _in_order(value: Any) -> Any:
    return (value.casefold(), value) if isinstance(value, str) else value
