"""A process of the tests: ``python -m tests.datasources.big URL SQL``, which runs a query whose rows are far too large.

Prints the code of the error and by how many MiB the process grew at most (VmHWM, which begins anew with the process).
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tenantry.errors import TenantryError
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources


def peak() -> int:
    """Of this process, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


async def _run(url: str, sql: str) -> None:
    directory = Directory()
    directory.add(1, url)
    async with data_sources(directory, timeout=120) as sources:
        asked = group(main="ds_1")
        await sources.fetch(asked, "main", "select 1 as one")
        before, code = peak(), "none"
        try:
            print(len(await sources.fetch(asked, "main", sql)), "rows")
        except TenantryError as error:
            code = error.code
        print(code, peak() - before)


if __name__ == "__main__":
    asyncio.run(_run(*sys.argv[1:]))
