"""Twenty thousand rows of four narrow columns, fetched: ``DataSources``, each engine's driver, and SQLAlchemy Core.

Wall time, for there are threads and servers in it. The aims are for ``DataSources.fetch``, which gives dicts, compared
with the driver's own rows, which are none.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from inspect import isawaitable
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import engines, orders
from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat_async
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from benchmarks.micro import row_readers
from benchmarks.micro.row_readers import Readers
from tenantry import DataSources
from tenantry.datasources import Limits
from tenantry.sql import SQLTemplate

ROWS = 20_000
ROUNDS = 15
QUERY, FETCH = "DataSources.query, tuples", "DataSources.fetch, dicts"
TEMPLATE = SQLTemplate(orders.SQL)


class _Engine(NamedTuple):
    """``start`` makes its orders and gives its URL; it may raise EngineMissing. ``aim``: fetch, × its driver."""

    name: str
    start: Callable[[ExitStack], str]
    readers: Callable[[str, AsyncExitStack], Readers | Awaitable[Readers]]
    aim: float


def table() -> Table:
    """Runs it. An engine that this machine does not have is left out, and a row says so."""
    result = Table(f"{ROWS:,} rows fetched, wall time", ["what", "ms", "× the driver"])
    for engine in ENGINES:
        with ExitStack() as stack:
            try:
                url = engine.start(stack)
            except engines.EngineMissing as missing:
                result.add(f"{engine.name}: skipped: {missing}", "", "")
            else:
                _report(result, engine, asyncio.run(_compare(engine, url)))
    return result


async def _compare(engine: _Engine, url: str) -> Figures:
    async with AsyncExitStack() as stack:
        sources = await stack.enter_async_context(
            DataSources(OneSource(url), limits=Limits(row_limit=ROWS, max_bytes=1 << 30))
        )
        assert len(await sources.fetch(group(), SCHEMA, TEMPLATE)) == ROWS
        found = engine.readers(url, stack)
        readers = await found if isawaitable(found) else found
        return await compare({**readers, **_ours(sources)}, rounds=ROUNDS, clock=WALL)


def _ours(sources: DataSources) -> dict[str, Cell]:
    asking = group()
    return {
        QUERY: repeat_async(lambda: sources.query(asking, SCHEMA, TEMPLATE)),
        FETCH: repeat_async(lambda: sources.fetch(asking, SCHEMA, TEMPLATE)),
    }


def _report(result: Table, engine: _Engine, figures: Figures) -> None:
    driver = next(iter(figures.rounds))
    for name in figures.rounds:
        ratio = f"{figures.ratio(name, driver):.2f}"
        result.add(f"{engine.name}: {name}", f"{figures.median(name) / 1e6:,.1f}", ratio)
    result.aims.append(Aim(f"{engine.name}, fetch × {driver}", figures.ratio(FETCH, driver), engine.aim))


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _postgresql(stack: ExitStack) -> str:
    url = stack.enter_context(engines.postgres())
    orders.fill_postgresql(url, ROWS)
    return url


def _mariadb(stack: ExitStack) -> str:
    url = stack.enter_context(engines.mariadb())
    orders.fill_mariadb(url, ROWS)
    return url


ENGINES = (
    _Engine("SQLite", lambda stack: orders.fill_sqlite(_folder(stack) / "orders", ROWS), row_readers.of_sqlite, 1.3),
    _Engine("DuckDB", lambda stack: orders.fill_duckdb(_folder(stack) / "orders", ROWS), row_readers.of_duckdb, 1.3),
    _Engine("PostgreSQL", _postgresql, row_readers.of_postgresql, 0.9),
    _Engine("MariaDB", _mariadb, row_readers.of_mariadb, 0.8),
)
