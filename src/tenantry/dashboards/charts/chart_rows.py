"""ChartRows: the rows of a chart, those that its plot shows, of however many its query gives.

A query within the limits of its source is asked for all its rows, so that one answer serves every width and every panel
that has the query. Of a larger one the engine chooses the rows, where it can; else they are read and chosen here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

from cachetools import LRUCache

from tenantry.dashboards.charts.reduction import Plot, reduce_rows, reduced_rows
from tenantry.datasources import DataSources, Reduction
from tenantry.datasources.results import Result
from tenantry.datasources.wrapped import ColumnTypesTemplate, ReducedTemplate, WrappedTemplate, reduced_answer
from tenantry.errors import InvalidSettings, NotOneStatement, QueryFailed, TooManyBytes, TooManyRows, UnbindableValue
from tenantry.groups import Record, UserGroup
from tenantry.sql import SQLTemplate

_REMEMBERED: Final = 4_096
"""Queries of groups that are known to give many rows."""
_TOO_MANY: Final = (TooManyRows, TooManyBytes)
_NOT_HERE: Final = (InvalidSettings, NotOneStatement, QueryFailed, UnbindableValue, *_TOO_MANY)
"""Why an engine does not choose the rows. It may be the author's mistake: then reading the rows raises it again."""
_BY_ENGINE: Final = Reduction("by the engine", reduced_answer)

_Key: TypeAlias = tuple[bytes, str, SQLTemplate]
_Types: TypeAlias = Mapping[str, str | None]
_Ask: TypeAlias = Callable[..., Awaitable[Result]]


class ChartRows:
    """Of all charts of a program. It remembers which query gave a group more rows than a query may, so that the next
    time nobody asks for them all."""

    def __init__(self, sources: DataSources) -> None:
        self._sources = sources
        self._large: LRUCache[_Key, _Types | None] = LRUCache(_REMEMBERED)
        """With the types of the columns; None where the engine does not choose the rows."""

    async def fetch(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate,
        variables: Record,
        plot: Plot,
        max_age: float | None,
    ) -> tuple[Result, bool]:
        """The rows, and whether they are those alone that the plot shows. The limits of a query are for what it is
        asked for plainly; rows that are chosen from are within the limits of streams. Raises as ``DataSources.query``
        does."""

        def ask(asked: SQLTemplate | WrappedTemplate, reduction: Reduction | None = None) -> Awaitable[Result]:
            return self._sources.query(group, schema, asked, variables, max_age=max_age, reduction=reduction)

        key = (group.handle, schema, template)
        if key not in self._large:
            try:
                rows = await ask(template)
            except _TOO_MANY:
                self._large[key] = await _types(ask, template)
            else:
                reduced = await reduced_rows(rows, plot) if len(rows) > plot.width else None
                return reduced or rows, reduced is not None
        found = await self._chosen_by_engine(ask, key, plot)
        if not found.names:
            found = await ask(template, Reduction(repr(plot), partial(_chosen, plot)))
        if found.names:
            return found, True
        self._large.pop(key, None)
        return await ask(template), False

    async def _chosen_by_engine(self, ask: _Ask, key: _Key, plot: Plot) -> Result:
        """Without any column where it cannot."""
        types = self._large.get(key)
        if types is not None and plot.is_of_lines:
            reduced = ReducedTemplate(
                key[-1], types, by=plot.by, measures=plot.measures, color=plot.color, columns=plot.columns
            )
            try:
                return await ask(reduced, _BY_ENGINE)
            except _NOT_HERE:
                self._large[key] = None
        return Result((), ())


async def _types(ask: _Ask, template: SQLTemplate) -> _Types | None:
    """The types of the columns; None where the engine does not say them, or chooses no rows."""
    try:
        known = await ask(ColumnTypesTemplate(template))
    except _NOT_HERE:
        return None
    return dict(zip(known.names, known.types, strict=True)) if known.types else None


def _chosen(plot: Plot, result: Result) -> Result:
    """Without any column where rows cannot be chosen."""
    if len(result) <= plot.columns:
        return result
    return reduce_rows(result, plot) or Result((), ())
