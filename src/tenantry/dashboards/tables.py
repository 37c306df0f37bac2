"""The rows of a table: one page of them, sorted, and how many there are in all.

A result that is within the limits of its source is asked for whole, so that its pages fit together and a cache serves
them all; it is sorted and cut here. Of a larger one the engine gives the page and the number.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from tenantry.datasources.pages import CountTemplate, PagedTemplate
from tenantry.datasources.wrapped_template import WrappedTemplate
from tenantry.errors import InvalidParameter, TooManyBytes, TooManyRows
from tenantry.results import Result
from tenantry.sql import SQLTemplate

PAGE_SIZE: Final = 50
"""Rows of a page, where the author says nothing else."""

Ask: TypeAlias = Callable[[SQLTemplate | WrappedTemplate], Awaitable[Result]]


async def fetch_table(
    ask: Ask, template: SQLTemplate, view: Mapping[str, Any], page: int, sort: str
) -> tuple[Result, int]:
    """The rows of ``page`` (from 0), and the number of all. ``sort``: a column, ``-name`` for the largest first; else
    that of the ``view``, else the query's own order. Raises as ``DataSources.query`` does, and InvalidParameter for a
    column that the rows do not have."""
    size = view.get("page", PAGE_SIZE)
    sort = sort or view.get("sort", "")
    try:
        whole = await ask(template)
    except (TooManyRows, TooManyBytes):
        order = [sort] if sort else _names(view)[:1]
        if not order:
            raise
        ties = [name for name in _names(view) if name not in {each.removeprefix("-") for each in order}]
        window = PagedTemplate(template, [*order, *ties], size, None, page * size)
        rows = await ask(window)
        total = (await ask(CountTemplate(template))).rows[0][0]
        return replace(rows, rows=rows.rows[:size]), int(total)
    ordered = sorted_rows(whole, sort) if sort else whole.rows
    return replace(whole, rows=ordered[page * size : (page + 1) * size]), len(whole)


def _names(view: Mapping[str, Any]) -> list[str]:
    """The columns that the author named."""
    return [each["name"] for each in view.get("columns", ())]


def sorted_rows(result: Result, sort: str) -> Sequence[tuple[Any, ...]]:
    """The rows in the order of a column; those without a value are last in both directions."""
    name = sort.removeprefix("-")
    if name not in result.names:
        raise InvalidParameter("sort names a column that the rows do not have", names=["sort"])
    position = result.names.index(name)
    there = [row for row in result.rows if row[position] is not None]
    try:
        there.sort(key=lambda row: _in_order(row[position]), reverse=sort != name)
    except TypeError:  # values of several types
        there.sort(key=lambda row: str(row[position]), reverse=sort != name)
    return [*there, *(row for row in result.rows if row[position] is None)]


def _in_order(value: Any) -> Any:
    return (value.casefold(), value) if isinstance(value, str) else value
