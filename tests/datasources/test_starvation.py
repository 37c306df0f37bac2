"""What one group, or four, can do to another one of the same source, in simulated time: downloads that nobody reads,
and queries of 5 to 12 seconds, asked again and again.

The attackers have been there for a minute: whose queries are long is known once some have run. A victim of a source
with one connection has queries as long as theirs, for it waits for the one that runs. Red when ``share`` gives all
connections or all but one of five; when ``is_long`` is always False; and when ``must_yield`` is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from engines.samples import sampled
from tenantry.datasources import Limits
from tenantry.datasources.pool.fair_queue import FairQueue
from tenantry.errors import SourceUnavailable
from tests.datasources.simulated_loop import simulate

UNREAD = 30.0
"""Seconds after which a stream ends that nobody reads."""
Attack = Callable[[FairQueue, int, random.Random], Coroutine[Any, Any, None]]


async def downloads(queue: FairQueue, group: int, chance: random.Random) -> None:
    """Seven, of which nothing is read, and again each 31 seconds."""

    async def download() -> None:
        with suppress(SourceUnavailable):
            turn = queue.acquire(group, is_stream=True)
            await turn.wait()
            ends = now() + UNREAD
            while now() < ends and not queue.must_yield(turn):
                await asyncio.sleep(0.5)
            if now() >= ends:
                queue.bar(turn.group)
            queue.release(turn)

    await _again(download, 7, chance, 31.0)


async def queries(queue: FairQueue, group: int, chance: random.Random) -> None:
    """Ten, of 5 to 12 seconds, and again as soon as one has ended."""

    async def query() -> None:
        with suppress(SourceUnavailable):
            turn = queue.acquire(group)
            await turn.wait()
            await asyncio.sleep(chance.uniform(5, 12))
            queue.release(turn)

    await _again(query, 10, chance, 0.0)


async def _again(ask: Callable[[], Coroutine[Any, Any, None]], count: int, chance: random.Random, each: float) -> None:
    async def one() -> None:
        while True:
            begun = now()
            await ask()
            await asyncio.sleep(max(each - (now() - begun), chance.random() / 10))

    await asyncio.gather(*(one() for _ in range(count)))


async def visit(queue: FairQueue, panels: int, seconds: float) -> float:
    """A page of so many panels of another group; how long it took. Raises SourceUnavailable for one that is refused."""

    async def panel() -> None:
        turn = queue.acquire("victim")
        await turn.wait()
        await asyncio.sleep(seconds)
        queue.release(turn)

    begun = now()
    await asyncio.gather(*(panel() for _ in range(panels)))
    return now() - begun


def now() -> float:
    return asyncio.get_running_loop().time()


def longest(attack: Attack | None, groups: int, size: int, panels: int, seconds: float) -> float:
    """The longest of twenty visits, each a minute after the one before."""

    async def main() -> float:
        queue, chance = FairQueue("ds_1", Limits(pool_size=size)), random.Random(size)
        tasks = [asyncio.create_task(attack(queue, each, chance)) for each in range(groups)] if attack else []
        await asyncio.sleep(60)
        times = []
        for _ in range(20):
            times.append(await visit(queue, panels, seconds))
            await asyncio.sleep(60)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return max(times)

    return simulate(main())


@sampled(7)
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("attack", [downloads, queries])
@pytest.mark.parametrize(
    ("size", "panels", "seconds"),
    [(5, 13, 0.05), (5, 13, 0.8), (5, 2, 8.0), (2, 13, 0.05), (2, 13, 0.8), (2, 1, 8.0), (1, 1, 8.0)],
)
def test_a_victim_takes_three_times_as_long_at_most(
    attack: Attack, groups: int, size: int, panels: int, seconds: float
) -> None:
    """And is never refused."""
    alone = longest(None, 0, size, panels, seconds)
    attacked = longest(attack, groups, size, panels, seconds)
    assert attacked <= 3 * alone, (attacked, alone)


@sampled(3)
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("attack", [downloads, queries])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_page_that_is_asked_again_and_again_is_never_refused(attack: Attack, groups: int, size: int) -> None:
    """Thirteen short panels, again and again from when the attack begins, but for a source with one connection. Red
    when what was used is counted and not what was long: then this victim is the one that has used most."""

    async def main() -> int:
        queue, chance = FairQueue("ds_1", Limits(pool_size=size)), random.Random(size)
        tasks = [asyncio.create_task(attack(queue, each, chance)) for each in range(groups)]
        visits = 0
        await asyncio.sleep(60 if size == 1 else 1)
        while now() < (600 if size == 1 else 300):
            await visit(queue, 13, 0.1)
            visits += 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return visits

    assert simulate(main()) > (20 if size == 1 else 200)
