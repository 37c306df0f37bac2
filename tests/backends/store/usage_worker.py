"""A process that counts usage: ``python -m tests.backends.store.usage_worker URL``.

It reads commands from stdin: a number (of queries), ``ann:3`` (queries of a viewer), ``flush`` or ``end``; it prints
how many rows wait, and never closes its store. With ``fork`` after the URL it counts, forks, counts in both processes,
and both send."""

from __future__ import annotations

import asyncio
import os
import sys

from tenantry.backends.sql import SQLStore
from tenantry.usage import UsageRecorder


async def obey(recorder: UsageRecorder) -> None:
    while (word := (await asyncio.to_thread(sys.stdin.readline)).strip()) != "end":
        if word == "flush":
            await recorder.flush()
        else:
            viewer, _, queries = word.rpartition(":")
            recorder.add("production", "acme", viewer=viewer or None, queries=int(queries))
        print(recorder.waiting, flush=True)


def fork(recorder: UsageRecorder) -> None:
    recorder.add("production", "acme", queries=5)
    child = os.fork()
    recorder.add("production", "acme", queries=7 if child else 100)
    if child:
        os.waitpid(child, 0)
    asyncio.run(recorder.flush())


def main(url: str, *words: str) -> None:
    recorder = SQLStore(url, deadline=30).usage_recorder
    assert recorder is not None
    if words:
        fork(recorder)
    else:
        asyncio.run(obey(recorder))


if __name__ == "__main__":
    main(*sys.argv[1:])
