"""Statements that give so many rows, as they are read; and how much a process grows that streams them.

``python -m tests.datasources.streamed_rows URL SQL`` prints by how many MiB it grew at most, and how many rows it read.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path

from tests.datasources.big import peak
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

ENDLESS = 2_000_000_000
ROWS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) "
    "select i, 'name ' || i as name from n",
    "duckdb": "select i, 'name ' || i as name from range(1, {} + 1) r(i)",
    "postgresql": "select i, 'name ' || i as name from (select generate_series(1, {}) as i) n",
    "mariadb": "select seq as i, concat('name ', seq) as name from seq_1_to_{}",
}


async def _run(url: str, sql: str) -> None:
    directory = Directory()
    directory.add(1, url)
    async with data_sources(directory, timeout=600) as sources:
        for each in ("select 1 as one", sql):  # the first one loads what the second one needs
            gc.collect()
            Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
            before = peak()
            stream = await sources.stream(group(main="ds_1"), "main", each, {}, format="json")
            async for _ in stream:
                pass
    print(peak() - before, stream.row_count)


if __name__ == "__main__":
    asyncio.run(_run(*sys.argv[1:]))
