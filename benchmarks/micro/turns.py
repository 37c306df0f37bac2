"""One query behind a hundred: its own group's, or a neighbour's, which share the connections of a source in turns.

On PostgreSQL with a pool of five. A query either waits for 20 ms, or keeps a processor busy for about as long. The
hundred are under way when the one is asked, and no two are equal: equal ones would be one. Behind its own group's it
is served in the order of arrival, as anybody's is where there are no turns.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.harness import engines
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.datasources import Limits, Monitoring, Sharing
from tenantry.groups import UserGroup
from tenantry.sql import SQLTemplate

ROUNDS = 9
POOL, HALF = 5, 2
CROWD = 100
ALONE_TIMES = 5
PATIENCE = 600.0
"""Seconds for a query and for its turn: on a busy machine none fails for want of time."""
WAITING = SQLTemplate("select {{ n }}::integer as n, pg_sleep(0.02)::text as slept")
BUSY = SQLTemplate("select {{ n }}::integer as n, sum(sqrt(i)) as total from generate_series(1, 120000) i")
VISITOR, NEIGHBOUR = group("visitor"), group("neighbour")
WAITING_AIM, BUSY_AIM = 3.0, 4.0


@dataclass
class _Case:
    """What stands before the visitor's query, and what was measured of it: in each round its seconds by those of one
    alone, and the seconds of the hundred."""

    name: str
    template: SQLTemplate
    crowd: UserGroup
    group_pool_size: int = POOL
    aim: float | None = None
    alone: list[float] = field(default_factory=list)
    behind: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def ratio(self) -> float:
        """How many times as long as alone."""
        return statistics.median(behind / alone for behind, alone in zip(self.behind, self.alone, strict=True))


def _cases() -> list[_Case]:
    return [
        _Case("waiting queries, same group", WAITING, VISITOR),
        _Case("waiting queries, another group", WAITING, NEIGHBOUR, aim=WAITING_AIM),
        _Case("CPU-bound queries, same group", BUSY, VISITOR),
        _Case("CPU-bound queries, another group", BUSY, NEIGHBOUR),
        _Case(f"CPU-bound queries, another group, {HALF} at once", BUSY, NEIGHBOUR, HALF, aim=BUSY_AIM),
    ]


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL."""
    with ExitStack() as stack:
        return _report(asyncio.run(_measure(stack.enter_context(engines.postgres()))))


async def _measure(url: str) -> list[_Case]:
    cases = _cases()
    async with AsyncExitStack() as stack:
        rounds = [(case, _Rounds(case, await _sources(url, case, stack))) for case in cases]
        for _ in range(ROUNDS):
            for case, each in rounds:
                case.alone.append(await each.alone())
                behind, whole = await each.behind()
                case.behind.append(behind)
                case.whole.append(whole)
    return cases


async def _sources(url: str, case: _Case, stack: AsyncExitStack) -> DataSources:
    sources = DataSources(
        OneSource(url),
        limits=Limits(
            pool_size=POOL,
            timeout=PATIENCE,
            connect_timeout=PATIENCE,
            sharing=Sharing(group_pool_size=case.group_pool_size),
        ),
        monitoring=Monitoring(slow_seconds=None),
    )
    return await stack.enter_async_context(sources)


class _Rounds:
    """The queries of one case."""

    def __init__(self, case: _Case, sources: DataSources) -> None:
        self._case = case
        self._sources = sources
        self._numbers = itertools.count()

    async def _ask(self, asking: UserGroup) -> None:
        await self._sources.fetch(asking, SCHEMA, self._case.template, {"n": next(self._numbers)})

    async def _timed(self, call: Callable[[], Awaitable[object]]) -> float:
        start = perf_counter()
        await call()
        return perf_counter() - start

    async def alone(self) -> float:
        """Seconds of a query with nothing before it."""
        return statistics.median([await self._timed(lambda: self._ask(VISITOR)) for _ in range(ALONE_TIMES)])

    async def behind(self) -> tuple[float, float]:
        """Seconds of a query with the crowd before it, and those of the crowd."""
        start = perf_counter()
        crowd = [asyncio.create_task(self._ask(self._case.crowd)) for _ in range(CROWD)]
        await asyncio.wait(crowd, return_when=asyncio.FIRST_COMPLETED)  # the connections are open, and all are taken
        seconds = await self._timed(lambda: self._ask(VISITOR))
        await asyncio.gather(*crowd)
        return seconds, perf_counter() - start


def _report(cases: list[_Case]) -> Table:
    heads = [f"the {CROWD} queries ahead", "alone, ms", "behind them, ms", "× alone", f"all {CROWD}, ms"]
    result = Table(f"One query behind {CROWD} others, {POOL} connections, wall time", heads)
    for case in cases:
        alone, behind, whole = (statistics.median(each) * 1e3 for each in (case.alone, case.behind, case.whole))
        result.add(case.name, f"{alone:,.1f}", f"{behind:,.1f}", f"{case.ratio():.1f}", f"{whole:,.0f}")
        if case.aim is not None:
            result.aims.append(Aim(f"{case.name}, × alone", case.ratio(), case.aim))
    return result
