"""A million rows of four columns streamed as NDJSON, each engine in a process of its own: memory, stalls, speed.

A stall of the event loop is ``own`` without the time in which the process waited for a processor: on a busy machine
the others are longer than anything here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.harness import engines
from benchmarks.harness.orders import SQL, fill_duckdb, fill_sqlite
from benchmarks.harness.table import Aim, Table

ROWS = 1_000_000
GROWTH, GROWTH_SORTED = 20.0, 100.0
STALL, STALL_MARIADB = 20.0, 40.0
POSTGRESQL = (
    "select n as id, 'customer ' || n as name, n * 0.5 as amount, n % 7 as kind "
    f"from (select generate_series(1, {ROWS}) as n) m"
)
MARIADB = (
    f"select seq as id, concat('customer ', seq) as name, seq * 0.5 as amount, seq % 7 as kind from seq_1_to_{ROWS}"
)


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL or MariaDB."""
    heads = [
        "engine",
        "k rows/s",
        "first piece, ms",
        "growth, MB",
        "longest stall, ms",
        "idle stall, ms",
        "own stall, ms",
    ]
    result = Table(f"{ROWS:,} rows streamed as NDJSON", heads)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sqlite, duckdb = fill_sqlite(folder / "sqlite", ROWS), fill_duckdb(folder / "duckdb", ROWS)
        postgresql, mariadb = stack.enter_context(engines.postgres()), stack.enter_context(engines.mariadb())
        for name, url, sql, growth, stall in (
            ("SQLite", sqlite, SQL, GROWTH, STALL),
            ("DuckDB", duckdb, SQL, GROWTH, STALL),
            ("DuckDB, sorted", duckdb, f"{SQL} order by name", GROWTH_SORTED, STALL),
            ("PostgreSQL", postgresql, POSTGRESQL, GROWTH, STALL),
            ("MariaDB", mariadb, MARIADB, GROWTH, STALL_MARIADB),
        ):
            found = _measure(url, sql)
            assert found["rows"] == ROWS
            cells = (found["rows_s"] / 1e3, found["first_ms"], found["growth_mb"])
            stalls = (found["stall_ms"], found["idle_stall_ms"], found["own_stall_ms"])
            result.add(name, *(f"{cell:,.0f}" for cell in cells), *(f"{each:.1f}" for each in stalls))
            result.aims.append(Aim(f"{name}: growth, MB", found["growth_mb"], growth))
            result.aims.append(Aim(f"{name}: longest stall beyond the idle one, ms", stalls[0] - stalls[1], stall))
    return result


def _measure(url: str, sql: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.micro.streamed", url, sql]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found
