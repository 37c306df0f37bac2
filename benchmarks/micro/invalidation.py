"""From a committed update to the moment when another worker has let the group go, on PostgreSQL.

The other worker is a process of its own with a cached token. It shares the run folder (the slots of the host) in the
first row only; in the others it is another host: a run folder of its own. The peer is redis-py's pub/sub as one writes
it: a connection that listens, a message published after the commit.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from benchmarks.harness import engines
from benchmarks.harness.population import ENVIRONMENT, populate, raw
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.follower import CHANNEL
from tenantry.backends.buses import RedisBus
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupChanges

NUMBER = 500
BUS, PEER = "RedisBus", "redis-py pub/sub, listening"
TRIALS = {
    "slots (same host)": ("slot", 200),
    "PostgresBus": ("postgres", 100),
    BUS: ("redis", 100),
    PEER: ("redis-py", 100),
    "polling only, once a second": ("poll", 15),
}

MANY = 50

Write = Callable[[], Awaitable[None]]


class Follower:
    """A ``benchmarks.micro.follower`` process; stopped by its own process id."""

    def __init__(self, how: str, url: str, valkey: str, folder: str) -> None:
        own = {} if how == "slot" else {"TENANTRY_RUN_DIR": folder}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.micro.follower", how, url, raw(NUMBER).decode(), valkey],
            env=os.environ | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """The next line that it prints."""
        return _open(self.process.stdout).readline().strip()

    def go_on(self) -> None:
        """Lets it begin again."""
        stdin = _open(self.process.stdin)
        stdin.write("\n")
        stdin.flush()

    def stop(self) -> None:
        """Kills it, and waits for its end."""
        self.process.kill()
        self.process.wait()
        _open(self.process.stdin).close()
        _open(self.process.stdout).close()


def _open(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL or Valkey."""
    with ExitStack() as stack:
        url = stack.enter_context(engines.postgres())
        valkey = stack.enter_context(engines.valkey())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tenantry-bench-"))
        populate(url, 1_000)
        return asyncio.run(_compare(url, valkey, folder))


async def _compare(url: str, valkey: str, folder: str) -> Table:
    import redis.asyncio

    store = SQLStore(url, deadline=10.0)
    bus = RedisBus(valkey)
    store.subscribe(bus)
    client = redis.asyncio.Redis.from_url(valkey)
    environment = await store.environments.get(ENVIRONMENT)
    assert environment is not None
    names = iter(range(1_000_000))

    async def update() -> None:
        await store.groups.update(environment, f"customer-{NUMBER}", GroupChanges(name=f"Name {next(names)}"))

    result = Table(
        "From an update to the eviction in another process, PostgreSQL, µs",
        ["how", "trials", "p50 from the call", "p50 from the return", "p90", "p99"],
    )
    found: dict[str, list[tuple[float, float]]] = {}
    for name, (how, trials) in TRIALS.items():
        follower = Follower(how, url, valkey, str(Path(folder)))
        try:
            times = await _trials(follower, update, trials, _published(client) if how == "redis-py" else None)
        finally:
            follower.stop()
        _add(result, name, times)
        found[name] = times
    result.aims = _aims(found)
    await client.aclose()
    await bus.aclose()
    await store.aclose()
    return result


def _aims(found: dict[str, list[tuple[float, float]]]) -> list[Aim]:
    """Those of the fastest bus against redis-py listening: its median by ratio, and its 99th in a hundred."""
    bus, peer = (sorted(from_return for _, from_return in found[name]) for name in (BUS, PEER))
    ratio = bus[len(bus) // 2] / peer[len(peer) // 2]
    return [
        Aim(f"{BUS}, p50 from the return, × {PEER}", ratio, 0.65),
        Aim(f"{BUS}, p99 from the return, µs", bus[len(bus) * 99 // 100] * 1e6, 300),
    ]


def _published(client: object) -> Write:
    async def publish() -> None:
        await client.publish(CHANNEL, b"key")  # type: ignore[attr-defined]

    return publish


async def _trials(follower: Follower, update: Write, number: int, publish: Write | None) -> list[tuple[float, float]]:
    """Seconds from the call and from its return to the eviction, of each trial."""
    times = []
    spread = 1.0 if number < MANY else 0.02
    for _ in range(number):
        assert await asyncio.to_thread(follower.line) == "ready"
        await asyncio.sleep(random.random() * spread)  # no trial stands in step with the polls
        called = time.clock_gettime(time.CLOCK_MONOTONIC)
        await update()
        returned = time.clock_gettime(time.CLOCK_MONOTONIC)
        if publish is not None:
            await publish()
        evicted = float(await asyncio.to_thread(follower.line))
        times.append((evicted - called, evicted - returned))
        follower.go_on()
    return times


def _add(result: Table, name: str, times: list[tuple[float, float]]) -> None:
    called = sorted(time[0] * 1e6 for time in times)
    returned = sorted(time[1] * 1e6 for time in times)
    number = len(times)
    result.add(
        name,
        str(number),
        f"{called[number // 2]:,.0f}",
        f"{returned[number // 2]:,.0f}",
        f"{returned[number * 9 // 10]:,.0f}",
        f"{returned[number * 99 // 100]:,.0f}",
    )
