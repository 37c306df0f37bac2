"""One miss on SQLite: the read of one group by its handle, out of 100,000, compared with other ways from Python to the
file.

The others give a row of text; ``SQLStore`` gives a user group with its properties parsed, under a deadline. The usual
way through aiosqlite is ``async with db.execute(…)``; ``execute_fetchall`` is the shorter one.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiosqlite
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.harness.measure import WALL, Cell, compare, repeat, repeat_async
from benchmarks.harness.population import KEYS, populate, raw, token
from benchmarks.harness.table import Aim, Table
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.database.tables import environments, groups

GROUPS = 100_000
ASKED = 20_000
ROUNDS = 21
TEXT = "select * from user_groups join environments on environments.id = environment_id where handle = ?"
LOOK, RESOLVE = "Tenantry, SQLStore.read_at_snapshot", "Tenantry, Resolver.resolve, not cached"
USUAL, SHORT, CORE = (
    "aiosqlite, execute and fetchone",
    "aiosqlite, execute_fetchall",
    "SQLAlchemy async Core (aiosqlite)",
)


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        path = Path(name) / "tenantry.db"
        populate(f"sqlite:///{path}", GROUPS)
        return asyncio.run(_compare(path))


async def _compare(path: Path) -> Table:
    async with AsyncExitStack() as stack:
        figures = await compare(await _cells(path, stack), rounds=ROUNDS, clock=WALL)
    result = Table("One miss on SQLite, 100,000 groups, wall time", ["what", "µs", "× Tenantry's read"])
    for name in figures.rounds:
        result.add(name, f"{figures.median(name) / 1e3:.1f}", f"{figures.ratio(name, LOOK):.1f}")
    result.aims = [
        Aim(f"SQLStore.read_at_snapshot × {USUAL}", figures.ratio(LOOK, USUAL), 1 / 9),
        Aim(f"SQLStore.read_at_snapshot × {SHORT}", figures.ratio(LOOK, SHORT), 1 / 9),
    ]
    return result


async def _cells(path: Path, stack: AsyncExitStack) -> dict[str, Cell]:
    url = f"sqlite:///{path}"
    numbers = chosen()
    live = itertools.cycle([token(number) for number in numbers])
    handles = itertools.cycle([token(number).handle for number in numbers])
    store = SQLStore(url)
    stack.push_async_callback(store.aclose)
    resolver = Resolver(store, keys=KEYS, capacity=16)  # which is far from enough: each token is a miss
    stack.push_async_callback(resolver.aclose)
    bare = sqlite3.connect(path)
    stack.callback(bare.close)
    async_db = await stack.enter_async_context(aiosqlite.connect(path))
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
    stack.push_async_callback(engine.dispose)
    statement = groups.select().add_columns(environments).join(environments)

    async def usual() -> object:
        async with async_db.execute(TEXT, (next(handles),)) as cursor:
            return await cursor.fetchone()

    async def short() -> object:
        return await async_db.execute_fetchall(TEXT, (next(handles),))

    async def core() -> object:
        async with engine.connect() as connection:
            return (await connection.execute(statement.where(groups.c.handle == next(handles)))).first()

    return {
        "bare sqlite3, in the event loop": repeat(lambda: bare.execute(TEXT, (next(handles),)).fetchall()),
        LOOK: repeat_async(lambda: store.read_at_snapshot(next(live), fresh=True)),
        RESOLVE: misses(resolver, numbers),
        SHORT: repeat_async(short),
        USUAL: repeat_async(usual),
        CORE: repeat_async(core),
    }


def chosen() -> list[int]:
    """The numbers of the groups that are asked for, all different, in no order."""
    return random.sample(range(GROUPS), ASKED)


def misses(resolver: Resolver, numbers: list[int]) -> Cell:
    """Tokens through a resolver whose cache is too small for them."""
    tokens: Iterator[bytes] = itertools.cycle([raw(number) for number in numbers])
    return repeat_async(lambda: resolver.resolve(next(tokens)))
