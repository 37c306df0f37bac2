"""A process of the table ``streams``: ``python -m benchmarks.micro.streamed URL SQL`` streams once, and prints JSON.

It first streams a few rows, and reads a DuckDB file: what DuckDB keeps of it is then in memory. The longest stall of
the event loop is what a task saw that sleeps a millisecond at a time: idle, and while the stream was read.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.harness.one_source import SCHEMA, OneSource, group
from tenantry import DataSources
from tenantry.datasources import Limits

_PAUSE = 0.001


class _Stalls:
    """``longest``: seconds by which a sleep was late at most; ``own``: the same without the time in which a thread of
    this process waited for a processor, which others of a busy machine had."""

    longest = own = 0.0

    async def watch(self) -> None:
        """Until it is cancelled."""
        waited = _waited()
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_PAUSE)
            late = time.perf_counter() - before - _PAUSE
            waited_before, waited = waited, _waited()
            self.longest = max(self.longest, late)
            self.own = max(self.own, late - (waited - waited_before))


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def _waited() -> float:
    """Seconds that the threads of this process were ready to run and did not, as Linux counts them."""
    total = 0
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has just ended
            total += int((thread / "schedstat").read_text().split()[1])
    return total / 1e9


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


async def _read(sources: DataSources, sql: str) -> tuple[float, float, int]:
    """Seconds to the first piece and to the last, and the rows."""
    began = time.perf_counter()
    stream = await sources.stream(group(), SCHEMA, sql, {})
    first = time.perf_counter() - began
    async for _ in stream:
        pass
    return first, time.perf_counter() - began, stream.row_count


async def _measure(url: str, sql: str) -> dict[str, float]:
    async with DataSources(OneSource(url), limits=Limits(timeout=600)) as sources:
        await _read(sources, f"select * from ({sql}) m limit 1000")
        if url.startswith("duckdb"):
            await sources.fetch(group(), SCHEMA, "select max(id), max(name), max(amount), max(kind) from orders", {})
        gc.collect()
        _forget_peak()
        before, figures, stalls = _kilobytes("VmRSS"), dict[str, float](), list[_Stalls]()
        for reading in (False, True):
            watched = _Stalls()
            watching = asyncio.create_task(watched.watch())
            if reading:
                first, whole, rows = await _read(sources, sql)
                figures |= {"first_ms": first * 1e3, "rows_s": rows / whole, "rows": rows}
            else:
                await asyncio.sleep(3)
            watching.cancel()
            stalls.append(watched)
        growth = (_kilobytes("VmHWM") - before) / 1024
    idle, read = stalls
    return figures | {
        "growth_mb": growth,
        "idle_stall_ms": idle.longest * 1e3,
        "stall_ms": read.longest * 1e3,
        "own_stall_ms": read.own * 1e3,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(*sys.argv[1:]))))
