"""Measuring side by side: all cells of a table run in one process, once a round, in shuffled order.

A figure is the median over the rounds; a ratio is the median of the ratios within each round, so a slow moment of a
shared machine spoils a round and not the comparison. The clock counts this thread's processor time; where the work
waits for a disk, a server or another thread, it is the wall's (WALL).
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

ROUNDS = 31
ROUND_SECONDS = 0.02

Clock = Callable[[], int]
PROCESSOR: Clock = time.thread_time_ns
WALL: Clock = time.perf_counter_ns

Cell = Callable[[int], Awaitable[None]]
"""Does its work ``n`` times."""


@dataclass(frozen=True)
class Figures:
    """Nanoseconds a call in each round, by the cell's name."""

    rounds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        """Nanoseconds a call."""
        return statistics.median(self.rounds[name])

    def net(self, name: str, floor: str) -> float:
        """Nanoseconds a call above ``floor``."""
        return statistics.median(a - b for a, b in zip(self.rounds[name], self.rounds[floor], strict=True))

    def ratio(self, name: str, base: str) -> float:
        """How many times ``base`` a call costs."""
        return statistics.median(a / b for a, b in zip(self.rounds[name], self.rounds[base], strict=True))

    def net_ratio(self, name: str, base: str, floor: str) -> float:
        """The same, with ``floor`` taken off both."""
        return self.net(name, floor) / self.net(base, floor)


async def compare(cells: Mapping[str, Cell], *, rounds: int = ROUNDS, clock: Clock = PROCESSOR) -> Figures:
    """Runs all cells ``rounds`` times in shuffled order, each for about ROUND_SECONDS a round."""
    times = {name: await _times_for(cell, clock) for name, cell in cells.items()}
    results: dict[str, list[float]] = {name: [] for name in cells}
    order = list(cells)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            results[name].append(await _measure(cells[name], times[name], clock))
    return Figures(results)


async def _times_for(cell: Cell, clock: Clock) -> int:
    await cell(3)  # compiles, opens, warms
    times = 1
    while await _measure(cell, times, clock) * times < ROUND_SECONDS * 1e9 and times < 1_000_000:
        times *= 2
    return times


async def _measure(cell: Cell, times: int, clock: Clock) -> float:
    gc.collect()
    gc.disable()
    try:
        start = clock()
        await cell(times)
        return (clock() - start) / times
    finally:
        gc.enable()


def repeat(call: Callable[[], object]) -> Cell:
    """A cell out of a plain call."""

    async def cell(times: int) -> None:
        for _ in range(times):
            call()

    return cell


def repeat_async(call: Callable[[], Awaitable[object]]) -> Cell:
    """A cell out of something to await, one after another."""

    async def cell(times: int) -> None:
        for _ in range(times):
            await call()

    return cell


def run(cells: Mapping[str, Cell], *, rounds: int = ROUNDS) -> Figures:
    """``compare`` in an event loop of its own."""
    return asyncio.run(compare(cells, rounds=rounds))
