"""Stores of a thousand and of a million groups, side by side: the time of a miss, the start of a worker, the room."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat_async
from benchmarks.harness.population import KEYS, token
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.misses_sqlite import misses
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.groups import Token

ASKED = 20_000
ROUNDS = 21
STARTS = 5
POLLS = "a poll (changes since the last)"


def compare_sizes(name: str, small: str, large: str, sizes: tuple[int, int], raw_of: list[list[str]]) -> Table:
    """``small`` and ``large`` are the URLs of two stores of one kind with so many groups; ``raw_of`` tokens of each."""
    figures = asyncio.run(_measure(dict(zip(sizes, (small, large), strict=True))))
    heads = [name, *(f"{size:,} groups, µs" for size in sizes), "ratio"]
    result = Table(f"A miss in {name}, few groups and many", heads)
    for what in ("SQLStore.read_at_snapshot", "Resolver.resolve, not cached", POLLS):
        few, many = (f"{what} {size}" for size in sizes)
        ratio = figures.ratio(many, few)
        result.add(what, f"{figures.median(few) / 1e3:.1f}", f"{figures.median(many) / 1e3:.1f}", f"{ratio:.2f}")
        if what != POLLS:
            result.aims.append(Aim(f"{what} in {name}, {sizes[1]:,} × {sizes[0]:,} groups", ratio, 1.2))
    starts = [[_start(url, text) for text in texts] for url, texts in zip((small, large), raw_of, strict=True)]
    first, second = (statistics.median(times) * 1e6 for times in starts)
    result.add(
        "from the start of Python to the first answer", f"{first:,.0f}", f"{second:,.0f}", f"{second / first:.2f}"
    )
    return result


async def _measure(urls: dict[int, str]) -> Figures:
    cells: dict[str, Cell] = {}
    async with AsyncExitStack() as stack:
        for size, url in urls.items():
            numbers = random.sample(range(size), min(size, ASKED))
            live = itertools.cycle([token(number) for number in numbers])
            store = SQLStore(url, deadline=10.0)
            stack.push_async_callback(store.aclose)
            resolver = Resolver(store, keys=KEYS, capacity=16)  # far from enough: each token is a miss
            stack.push_async_callback(resolver.aclose)
            generation = (await store.changes(None)).generation
            cells[f"SQLStore.read_at_snapshot {size}"] = _looks(store, live)
            cells[f"Resolver.resolve, not cached {size}"] = misses(resolver, numbers)
            cells[f"{POLLS} {size}"] = repeat_async(partial(store.changes, generation))
        return await compare(cells, rounds=ROUNDS, clock=WALL)


def _looks(store: SQLStore, live: Iterator[Token]) -> Cell:
    return repeat_async(lambda: store.read_at_snapshot(next(live), fresh=True))


def _start(url: str, text: str) -> float:
    """Seconds from the start of a process to its first answer."""
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    command = [sys.executable, "-m", "benchmarks.scale.cold_start", url, text]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout) - began


def sqlite_bytes(url: str) -> int:
    """Of the file."""
    return Path(urlsplit(url).path[1:]).stat().st_size


async def postgres_bytes(url: str) -> tuple[int, int]:
    """Of the table of groups and of its indexes."""
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(
            "select pg_table_size('user_groups') as rows, pg_indexes_size('user_groups') as indexes"
        )
    finally:
        await connection.close()
    return row["rows"], row["indexes"]
