"""Twenty viewers open the same page of twenty panels at once: how often the source is asked, and how long it takes.

On PostgreSQL with a pool of five; a query waits for 20 ms. Equal queries that are under way are one; where each viewer
asks for other values, none is. The pages that come after the first are answered from the result cache.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.harness import engines
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.datasources import Limits, ResultCache, Sharing
from tenantry.errors import TenantryError
from tenantry.sql import SQLTemplate
from tests.datasources.settings import executed

ROUNDS = 7
VIEWERS = PANELS = 20
PATIENCE = 60.0
"""Seconds for a turn, where 400 queries wait. What is equal keeps to the limits that DataSources has by itself."""
PANEL = SQLTemplate(
    "select {{ panel }}::integer as panel, {{ value }}::integer as value, pg_sleep(0.02)::text as slept"
)
ONE, EQUAL, CACHED, DIFFERENT = (
    "one viewer",
    f"{VIEWERS} viewers, equal panels",
    f"{VIEWERS} viewers, equal panels, cached",
    f"{VIEWERS} viewers, different values",
)


@dataclass
class _Found:
    """In each round: executions at the source, queries that failed, and seconds."""

    executions: list[int] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL."""
    with ExitStack() as stack:
        return _report(asyncio.run(_measure(stack.enter_context(engines.postgres()))))


async def _measure(url: str) -> dict[str, _Found]:
    found = {name: _Found() for name in (ONE, EQUAL, CACHED, DIFFERENT)}
    values = itertools.count()
    plain, cached = DataSources(OneSource(url)), DataSources(OneSource(url), cache=ResultCache(seconds=3_600))
    limits = Limits(connect_timeout=PATIENCE, sharing=Sharing(group_max_waiting=VIEWERS * PANELS))
    patient = DataSources(OneSource(url), limits=limits)
    async with plain, cached, patient:
        for sources in (plain, cached, patient):
            await _open(sources, [next(values)], _Found())  # opens the connections
        for _ in range(ROUNDS):
            first, same, kept = ([next(values)] for _ in range(3))
            await _open(plain, first, found[ONE])
            await _open(plain, same * VIEWERS, found[EQUAL])
            await _open(cached, kept, _Found())
            await _open(cached, kept * VIEWERS, found[CACHED])
            await _open(patient, [next(values) for _ in range(VIEWERS)], found[DIFFERENT])
    return found


async def _open(sources: DataSources, values: list[int], found: _Found) -> None:
    """A page for each of these values."""
    asking, before, start = group(), executed(sources), perf_counter()
    queries = [
        sources.fetch(asking, SCHEMA, PANEL, {"panel": panel, "value": value})
        for value in values
        for panel in range(PANELS)
    ]
    answers = await asyncio.gather(*queries, return_exceptions=True)
    found.seconds.append(perf_counter() - start)
    found.executions.append(executed(sources) - before)
    found.errors.append(sum(isinstance(answer, TenantryError) for answer in answers))


def _report(found: dict[str, _Found]) -> Table:
    heads = ["viewers", "queries", "executions", "errors", "ms", f"× {ONE}"]
    result = Table(f"A page of {PANELS} panels, wall time", heads)
    alone = statistics.median(found[ONE].seconds)
    for name, each in found.items():
        queries = PANELS * (1 if name == ONE else VIEWERS)
        seconds = statistics.median(each.seconds)
        counts = (str(queries), str(max(each.executions)), str(sum(each.errors)))
        result.add(name, *counts, f"{seconds * 1e3:,.1f}", f"{seconds / alone:.2f}")
    result.aims = [
        Aim(f"executions of {EQUAL}", max(found[EQUAL].executions), PANELS),
        Aim(f"errors of {EQUAL}", sum(found[EQUAL].errors), 0),
    ]
    return result
