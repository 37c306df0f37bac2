"""A process that resolves tokens as an app does: ``python -m tests.backends.store.reader URL STALENESS``.

It reads a token from stdin, accepts it until it is refused, and prints when it was last asked for one that it accepted
(``time.monotonic``, which all processes of a machine share). "cached" is printed when an answer came from memory.
"""

from __future__ import annotations

import asyncio
import sys
import time

from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.tokens import KeyRing, SigningKey

KEYS = KeyRing([SigningKey("k1", b"k" * 32)])


async def _accept(resolver: Resolver, token: str) -> float:
    last, reported = 0.0, False
    while True:
        asked = time.monotonic()
        try:
            await resolver.resolve(token)
            last = asked
        except InvalidToken:
            return last
        except StoreUnavailable:
            pass
        if not reported and resolver.counters.hits and resolver.lease_age is not None:
            reported = True
            print("cached", flush=True)
        await asyncio.sleep(0.0005)


async def _run(url: str, staleness: float) -> None:
    store = SQLStore(url)
    resolver = Resolver(store, keys=KEYS, staleness=staleness)
    while token := (await asyncio.to_thread(sys.stdin.readline)).strip():
        resolver.counters.hits = 0
        print(await _accept(resolver, token), flush=True)
    await resolver.aclose()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], float(sys.argv[2])))
