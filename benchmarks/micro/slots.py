"""One read of a slot's version, which every hit pays; what a write and a poll pay; and other probes of freshness."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness.measure import Cell, repeat, run
from benchmarks.harness.table import Aim, Table
from tenantry.cache.slots import PrivateSlots, SharedSlots

HANDLE = bytes.fromhex("0102030405060708")
SLOT = 0x0102
BATCH = 100
"""Compares in one call of a cell, so that the call is not what is measured."""


def _compares(slots: SharedSlots | PrivateSlots) -> Cell:
    """A cell of ``BATCH`` compares a time, as the hit path makes them: the slot and the version are in local names."""

    async def cell(times: int) -> None:
        versions, slot = slots.versions, SLOT
        kept = versions[slot]
        for _ in range(times):
            for _ in range(BATCH):
                if versions[slot] != kept:
                    raise AssertionError("nobody writes here")

    return cell


async def _nothing(times: int) -> None:
    for _ in range(times):
        for _ in range(BATCH):
            pass


def _write(slots: SharedSlots | PrivateSlots) -> Callable[[], None]:
    def write() -> None:
        with slots.writing(HANDLE):
            pass

    return write


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory() as folder:
        slots = SharedSlots.open("bench", Path(folder) / "run")
        database = sqlite3.connect(Path(folder) / "bench.db")
        database.execute("pragma journal_mode = wal")
        empty, one, private = "an empty loop", "comparing with a shared version", "comparing with a private version"
        figures = run({empty: _nothing, one: _compares(slots), private: _compares(PrivateSlots())})
        result = Table("Slots of a host", ["what", "ns"])
        for name in (one, private):
            result.add(name, f"{figures.net(name, empty) / BATCH:,.1f}")
        nothing = "a call"
        others = run(
            {
                nothing: repeat(lambda: None),
                "time.monotonic()": repeat(time.monotonic),
                "SQLite: pragma data_version": repeat(lambda: database.execute("pragma data_version").fetchone()),
                "checking whether the mapped file is current": repeat(slots.is_current),
                "both version changes of a write": repeat(_write(slots)),
                "copying all versions, for a poll": repeat(slots.copy),
            }
        )
        for name in list(others.rounds)[1:]:
            result.add(name, f"{others.net(name, nothing):,.0f}")
        result.aims = [Aim("comparing at each hit, ns", figures.net(one, empty) / BATCH, 60)]
        database.close()
    return result
