"""S26 and S27: attacks on one data source: the time of another group's page, as a multiple of its time alone, and how
many of its panels are refused. A real PostgreSQL; one group and four; one, two and five connections."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from unittest.mock import patch

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.postgres import PostgresServer
from tenantry.datasources import DataSources, Limits, Monitoring
from tenantry.datasources.pool.group_queue import GroupQueue
from tenantry.errors import DataSourceError, SourceUnavailable
from tenantry.groups import Environment, RegisteredSource, UserGroup
from tenantry.testing import make_environment, make_group

_POOLS: Final = (1, 2, 5)
_GROUPS: Final = (1, 4)
_WARM_SECONDS: Final = 45.0
"""How long an attack runs before the victim comes: whose queries are long is known once some have run."""
_MOST: Final = 3.0
_PANELS: Final = 13
_PANEL_SECONDS: Final = 0.3
_LONG_PANEL_SECONDS: Final = 8.5
"""Of the one panel of a victim whose source has one connection: as long as the attackers' queries, on average."""
_NUMBERS: Final = itertools.count()

Attack = Callable[[DataSources, UserGroup, random.Random], Awaitable[None]]


class _Directory:
    """Of one source."""

    def __init__(self, url: str) -> None:
        self.sources = self
        self._source = RegisteredSource("ds_1", "main", make_environment(), url)

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """It."""
        return self._source


@dataclass
class _Visits:
    """``alone`` and ``attacked``: seconds that each page took."""

    alone: list[float] = field(default_factory=list)
    attacked: list[float] = field(default_factory=list)
    refused: int = 0

    @property
    def times(self) -> float:
        """The slowest page under attack, as a multiple of the slowest one without."""
        return max(self.attacked) / max(self.alone)


def downloads(effort: Effort) -> Measured:
    """Seven of a group that nobody reads, asked again each 31 s."""
    return asyncio.run(_measure(effort, _download_again, 7))


def queries(effort: Effort) -> Measured:
    """Ten of a group, of 5 to 12 s, asked again as soon as they end."""
    return asyncio.run(_measure(effort, _query_again, 10))


async def _download_again(sources: DataSources, group: UserGroup, chance: random.Random) -> None:
    sql = f"select i, 'name ' || i as name from (select generate_series(1, 2000000000) as i) n -- {next(_NUMBERS)}"
    with suppress(DataSourceError):
        stream = await sources.stream(group, "main", sql, {})
        await asyncio.sleep(31)
        await stream.aclose()
    await asyncio.sleep(chance.random())


async def _query_again(sources: DataSources, group: UserGroup, chance: random.Random) -> None:
    with suppress(DataSourceError):
        await sources.fetch(group, "main", _sleep(chance.uniform(5, 12)), {})


def _sleep(seconds: float) -> str:
    return f"select {next(_NUMBERS)} as n from pg_sleep({seconds})"


async def _measure(effort: Effort, attack: Attack, count: int) -> Measured:
    visits = effort.pick(4, 20)
    with PostgresServer() as server:
        url = server.create_database()
        cases = list(itertools.product(_GROUPS, _POOLS))
        effort.say(f"{len(cases)} sources at once")
        found = await asyncio.gather(
            *(_attacked(url, attack, count, groups, pool, visits, random.Random(effort.seed)) for groups, pool in cases)
        )
        effort.say("control: without shares of the connections")
        with (
            patch("tenantry.datasources.pool.fair_queue.share", lambda size: size),
            patch.object(GroupQueue, "is_long", lambda *_: False),
        ):
            control = await _attacked(url, attack, count, 4, 5, visits, random.Random(effort.seed))
    worst, refused = max(each.times for each in found), sum(each.refused for each in found)
    figure = (
        f"{worst:.1f} times at most, {refused} refused, of {visits * len(cases)} pages in {len(cases)} cases "
        f"(control: {control.times:.1f} times, {control.refused} refused)"
    )
    met = worst <= _MOST and not refused and (control.times > _MOST or control.refused > 0)
    return Measured(figure, met, {"times": _numbers(cases, found), "refused": refused, "control": control.times})


def _numbers(cases: Sequence[tuple[int, int]], found: Sequence[_Visits]) -> dict[str, float]:
    return {
        f"{groups} groups, {pool} connections": round(each.times, 2)
        for (groups, pool), each in zip(cases, found, strict=True)
    }


async def _attacked(
    url: str, attack: Attack, count: int, groups: int, pool: int, visits: int, chance: random.Random
) -> _Visits:
    found = _Visits()
    limits, monitoring = Limits(pool_size=pool), Monitoring(query_tags=(), slow_seconds=None)
    async with DataSources(_Directory(url), limits=limits, monitoring=monitoring) as sources:
        for _ in range(2):  # the first one opens the connections
            found.alone.append(await _visit(sources, pool, found))

        async def again(group: UserGroup) -> None:
            while True:
                await attack(sources, group, chance)

        attackers = [asyncio.create_task(again(_group(each))) for each in range(groups) for _ in range(count)]
        await asyncio.sleep(_WARM_SECONDS)
        for _ in range(visits):
            found.attacked.append(await _visit(sources, pool, found))
            await asyncio.sleep(5 if pool > 1 else 40)
        for task in attackers:
            task.cancel()
        await asyncio.gather(*attackers, return_exceptions=True)
    return found


async def _visit(sources: DataSources, pool: int, found: _Visits) -> float:
    """A page of the victim; how long it took."""
    panels = [_sleep(_LONG_PANEL_SECONDS)] if pool == 1 else [_sleep(_PANEL_SECONDS) for _ in range(_PANELS)]
    victim, begun = _group(99), time.monotonic()
    outcomes = await asyncio.gather(*(sources.fetch(victim, "main", sql, {}) for sql in panels), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, SourceUnavailable):
            found.refused += 1
        elif isinstance(outcome, BaseException):
            raise outcome
    return time.monotonic() - begun


def _group(number: int) -> UserGroup:
    return make_group(provided_id=f"group {number}", mapping={"main": "ds_1"}, handle=b"%08d" % number)


CHECKS = (
    Check(
        "S26",
        "Downloads that nobody reads: a page of another group",
        "≤ 3 times alone; 0 refused",
        downloads,
        (600, 1800),
    ),
    Check("S27", "Queries of 5 to 12 s: a page of another group", "≤ 3 times alone; 0 refused", queries, (600, 1800)),
)
