"""Durable rotations per second on SQLite, compared with bare commits on the same disk.

A rotation has returned only when its commit is on the disk. So the ceiling is a bare ``sqlite3`` connection with the
same settings (WAL, synchronous=FULL) that does one update and commits, and below that one write and one fsync.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.harness.population import ENVIRONMENT, populate, token
from benchmarks.harness.table import Aim, Table
from tenantry.backends.sql import SQLStore
from tenantry.groups import Environment, Token

ROUNDS = 7
SECONDS = 0.6
GROUPS = 10_000
AT_ONCE = 32
SEQUENTIAL, CONCURRENT = "Tenantry, one after another", f"Tenantry, {AT_ONCE} at once"
COMMIT, SYNC = "bare sqlite3: one update, commit", "bare write and fsync of 4 KiB"


class Rotations:
    """Groups that are rotated in turn, each from its live token."""

    def __init__(self, store: SQLStore, environment: Environment) -> None:
        self._store = store
        self._environment = environment
        self._live: dict[int, Token] = {}
        self._next = 0

    async def one(self) -> None:
        """Rotates the next group from its live token."""
        number = self._next = (self._next + 1) % GROUPS
        current = self._live.get(number) or token(number)
        issued = await self._store.groups.rotate(self._environment, current, key_id="k1", nonce=os.urandom(16))
        self._live[number] = issued.token

    async def run(self, tasks: int) -> list[float]:
        """Seconds of each rotation that ``tasks`` at once did in SECONDS; sum of them / tasks is the time it took."""
        stop = time.perf_counter() + SECONDS
        waits: list[float] = []

        async def several() -> None:
            while (start := time.perf_counter()) < stop:
                await self.one()
                waits.append(time.perf_counter() - start)

        await asyncio.gather(*(several() for _ in range(tasks)))
        return waits


def table() -> Table:
    """Runs it, on the disk that holds this checkout."""
    Path(".bench").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rotations-", dir=".bench") as name:
        folder = Path(name).resolve()
        url = f"sqlite:///{folder / 'tenantry.db'}"
        populate(url, GROUPS)
        return asyncio.run(_compare(url, folder))


async def _compare(url: str, folder: Path) -> Table:
    store = SQLStore(url, deadline=10.0)
    environment = await store.environments.get(ENVIRONMENT)
    assert environment is not None
    rotations = Rotations(store, environment)
    rates: dict[str, list[float]] = {name: [] for name in (SYNC, COMMIT, SEQUENTIAL, CONCURRENT)}
    waits: dict[str, list[float]] = {name: [] for name in rates}
    for _ in range(ROUNDS):
        for name, found in (
            (SYNC, _sync(folder)),
            (COMMIT, _commit(folder)),
            (SEQUENTIAL, await rotations.run(1)),
            (CONCURRENT, await rotations.run(AT_ONCE)),
        ):
            tasks = AT_ONCE if name == CONCURRENT else 1
            rates[name].append(len(found) * tasks / sum(found))
            waits[name] += found
    await store.aclose()
    return _report(rates, waits)


def _sync(folder: Path) -> list[float]:
    """Seconds of each write and fsync."""
    page = bytes(4096)
    waits = []
    with (folder / "bare").open("wb") as file:
        stop = time.perf_counter() + SECONDS
        while (start := time.perf_counter()) < stop:
            file.write(page)
            file.flush()
            os.fdatasync(file.fileno())
            waits.append(time.perf_counter() - start)
    return waits


def _commit(folder: Path) -> list[float]:
    """Seconds of each update and commit."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("pragma journal_mode = wal").close()
    connection.execute("pragma synchronous = full")
    connection.execute("create table if not exists counts (number integer)")
    connection.execute("insert into counts values (0)")
    waits = []
    stop = time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < stop:
        connection.execute("begin immediate")
        connection.execute("update counts set number = number + 1 where rowid = 1")
        connection.execute("commit")
        waits.append(time.perf_counter() - start)
    connection.close()
    return waits


def _report(rates: dict[str, list[float]], waits: dict[str, list[float]]) -> Table:
    result = Table("Durable rotations on SQLite", ["what", "per second", "× bare commit", "p50 ms", "p99 ms"])
    for name, found in rates.items():
        ratio = statistics.median(a / b for a, b in zip(found, rates[COMMIT], strict=True))
        times = sorted(waits[name])
        p50, p99 = times[len(times) // 2] * 1e3, times[len(times) * 99 // 100] * 1e3
        result.add(name, f"{statistics.median(found):,.0f}", f"{ratio:.2f}", f"{p50:.2f}", f"{p99:.2f}")
    for name in (SEQUENTIAL, CONCURRENT):
        rate = statistics.median(rates[name])
        result.aims.append(Aim(f"durable rotations a second, {name}", rate, 1_500, at_least=True))
    return result
