"""An answer from the result cache: in the process, and from Valkey, compared with the query itself on SQLite.

``make bench TABLES=result_cache``. Wall time, for an answer of Valkey and a query wait for others; what the cache in
the process takes of the processor is a figure of its own, which a busy machine does not change as much.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from benchmarks.harness import engines
from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat_async
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.datasources import RedisResults, ResultCache
from tenantry.sql import SQLTemplate

ROUNDS = 31
ROWS = (1, 1_000)
SOURCE, PROCESS, VALKEY = "the source (SQLite)", "the cache in the process", "the cache in Valkey"
TEMPLATE = SQLTemplate("select id, region, amount, name from orders where id <= {{ rows }} and region <> {{ region }}")


def table() -> Table:
    """Runs it. Raises EngineMissing without Valkey."""
    with ExitStack() as stack:
        url = stack.enter_context(engines.valkey())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return asyncio.run(_compare(url, folder / "orders.db"))


async def _compare(url: str, path: Path) -> Table:
    connection = sqlite3.connect(path)
    connection.execute("create table orders (id integer primary key, region text, amount real, name text)")
    rows = [(number, "eu", number * 1.5, f"order {number}") for number in range(1, max(ROWS) + 1)]
    connection.executemany("insert into orders values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    figures = {}
    async with AsyncExitStack() as stack:
        for count in ROWS:
            cells = await _cells(url, path, count, stack)
            figures[count] = await compare(cells, rounds=ROUNDS, clock=WALL)
        alone = await compare({PROCESS: cells[PROCESS]}, rounds=ROUNDS)
    return _report(figures, alone)


async def _cells(url: str, path: Path, rows: int, stack: AsyncExitStack) -> dict[str, Cell]:
    directory = OneSource(f"sqlite:///{path}")
    asking = group(properties={"rows": rows, "region": "us"})
    near = ResultCache(seconds=3_600)
    shared = RedisResults(url, secret=secrets.token_bytes(32), budget=5.0)
    far = ResultCache(seconds=3_600, shared=shared)
    plain = await stack.enter_async_context(DataSources(directory))
    cached = await stack.enter_async_context(DataSources(directory, cache=near))
    fleet = await stack.enter_async_context(DataSources(directory, cache=far))

    async def ask(sources: DataSources) -> object:
        return await sources.query(asking, SCHEMA, TEMPLATE)

    async def from_valkey() -> object:
        far.clear()
        return await ask(fleet)

    await ask(fleet)
    await shared.settle()
    return {
        SOURCE: repeat_async(lambda: ask(plain)),
        PROCESS: repeat_async(lambda: ask(cached)),
        VALKEY: repeat_async(from_valkey),
    }


def _report(figures: dict[int, Figures], alone: Figures) -> Table:
    heads = ["an answer from"]
    for rows in figures:
        heads += [f"{rows} rows, µs", f"× ({rows})"]
    result = Table("The result cache, wall time (× the source)", heads)
    for name in (SOURCE, PROCESS, VALKEY):
        cells = []
        for found in figures.values():
            cells += [f"{found.median(name) / 1e3:,.1f}", f"{found.ratio(name, SOURCE):.3f}"]
        result.add(name, *cells)
    result.aims = [
        Aim(f"{PROCESS}, µs of the processor", alone.median(PROCESS) / 1e3, 20.0),
        Aim(f"{VALKEY}, {ROWS[0]} row, µs", figures[ROWS[0]].median(VALKEY) / 1e3, 1_000.0),
    ]
    return result
