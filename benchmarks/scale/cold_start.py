"""A worker's first answer, in a process of its own.

``python -m benchmarks.scale.cold_start STORE_URL TOKEN`` prints the moment.
"""

from __future__ import annotations

import asyncio
import sys
import time

from benchmarks.harness.population import KEYS
from tenantry import Resolver
from tenantry.backends.sql import SQLStore


async def _main() -> None:
    store = SQLStore(sys.argv[1])
    resolver = Resolver(store, keys=KEYS)
    await resolver.resolve(sys.argv[2])
    print(time.clock_gettime(time.CLOCK_MONOTONIC))
    await resolver.aclose()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(_main())
