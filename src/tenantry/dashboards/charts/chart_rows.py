from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from cachetools import LRUCache

from tenantry.dashboards.charts.m4 import Plot, reduce_rows, thin_rows
from tenantry.datasources import DataSources, Reduction
from tenantry.datasources.results import Result
from tenantry.errors import TooManyBytes, TooManyRows
from tenantry.groups import Record, UserGroup
from tenantry.sql import SQLTemplate

_REMEMBERED: Final = 4_096
"""Maximum number of queries that are remembered because their results are too large."""
_KEPT_PLOTS: Final = 16
"""Maximum number of reduced copies kept for one result. Each plot width that a request chooses needs a copy."""

_Key: TypeAlias = tuple[bytes, str, SQLTemplate]


class ChartRows:
    """Fetches rows for line charts, and leaves out rows that make no visible difference."""

    # A result within the limits of the data source is read whole. Then it is reduced, unless the plot is `filled`. A
    # larger result is reduced while it is read.
    # A query with a larger result is remembered, so that its next fetch does not first try to read the whole result.

    def __init__(self, sources: DataSources) -> None:
        self._sources = sources
        self._large: LRUCache[_Key, bool] = LRUCache(_REMEMBERED)
        self._reductions: WeakKeyDictionary[Result, dict[Plot, Result | None]] = WeakKeyDictionary()
        """The reduced copies of results in a cache."""

    async def fetch(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate,
        variables: Record,
        plot: Plot,
        max_age: float | None,
        now: datetime,
    ) -> tuple[Result, bool]:
        """Return the rows, and whether rows may have been left out."""
        ask = partial(self._sources.query, group, schema, template, variables, max_age=max_age, now=now)
        key = (group.handle, schema, template)
        if key not in self._large:
            try:
                rows = await ask()
            except (TooManyRows, TooManyBytes):
                self._large[key] = True
            else:
                reduced = await self._reduced(rows, plot) if len(rows) > plot.width and not plot.filled else None
                return reduced or rows, reduced is not None
        try:
            return await ask(reduction=Reduction(repr(plot), partial(_thin, plot), partial(_reduce, plot))), True
        except _NotReducible as why:
            self._large.pop(key, None)
            try:
                return await ask(), False
            except (TooManyRows, TooManyBytes) as error:
                raise type(error)(f"{error.message}; {why.message}") from None

    async def _reduced(self, result: Result, plot: Plot) -> Result | None:
        known = self._reductions.setdefault(result, {})
        if plot not in known:
            made = await asyncio.to_thread(reduce_rows, result, plot)
            known[plot] = made
            while len(known) > _KEPT_PLOTS:
                del known[next(iter(known))]
            return made
        return known[plot]


class _NotReducible(TooManyRows):
    pass


def _not_reducible(plot: Plot) -> _NotReducible:
    return _NotReducible(f"a line chart of more rows needs `ORDER BY {plot.by}`, and numbers or times in that column")


def _thin(plot: Plot, result: Result) -> Result:
    thinned = thin_rows(result, plot)
    if thinned is None:
        raise _not_reducible(plot)
    return thinned


def _reduce(plot: Plot, result: Result) -> Result:
    if len(result) <= plot.columns:
        return result
    reduced = reduce_rows(result, plot)
    if reduced is None:
        raise _not_reducible(plot)
    return reduced
