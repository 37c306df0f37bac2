"""Reads: the looks of one event loop into the second-level cache, those of one tick in one command.

While two commands are under way the next looks gather: a burst costs few round trips, and a server that falls silent
holds two connections and no more. Whoever looks waits for ``budget`` seconds at the longest; the command itself may
take longer, so that a slow handshake ends and the next looks find a connection.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

BATCH = 128
_COMMANDS = 2
_COMMAND_SECONDS = 3.0

Fetch = Callable[[Sequence[str]], Awaitable[Sequence[bytes | None]]]


class NoAnswer(Exception):
    """The server did not answer, or not within the budget."""


class Reads:
    """``fetch`` gets at most 128 keys and gives a value or None for each; ``told`` hears of each batch whether that
    went well."""

    def __init__(self, fetch: Fetch, budget: float, told: Callable[[bool], None]) -> None:
        self._fetch = fetch
        self._budget = budget
        self._told = told
        self._waiting: deque[_Batch] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def look(self, key: str) -> bytes | None:
        """The value at the key; None if there is none. Raises NoAnswer."""
        batch = self._waiting[-1] if self._waiting else None
        if batch is None or len(batch.waiters) >= BATCH:
            loop = asyncio.get_running_loop()
            batch = _Batch(loop)
            batch.timer = loop.call_later(self._budget, self._give_up, batch)
            self._waiting.append(batch)
            loop.call_soon(self._send)
        return await batch.join(key)

    def _send(self) -> None:
        """At the end of a tick, and whenever a command has ended."""
        while self._waiting and len(self._tasks) < _COMMANDS:
            task = asyncio.get_running_loop().create_task(self._run(self._waiting.popleft()), name="tenantry.redis")
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._send()

    async def _run(self, batch: _Batch) -> None:
        keys = list(batch.waiters)
        values: Sequence[bytes | None] | None = None
        try:
            async with asyncio.timeout(_COMMAND_SECONDS):
                values = await self._fetch(keys)
        except Exception:  # noqa: BLE001, S110 - whatever it is, the origin is asked
            pass
        finally:
            self._end(batch, None if values is None else dict(zip(keys, values, strict=True)))

    def _give_up(self, batch: _Batch) -> None:
        if batch in self._waiting:
            self._waiting.remove(batch)
        self._end(batch, None)

    def _end(self, batch: _Batch, values: dict[str, bytes | None] | None) -> None:
        """The first end counts: an answer that comes after the budget is no answer."""
        if not batch.ended:
            batch.end(values)
            self._told(values is not None)

    async def aclose(self) -> None:
        """Whoever waits has no answer."""
        while self._waiting:
            self._give_up(self._waiting[0])
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Batch:
    """Keys, and who waits for the value of each."""

    __slots__ = ("_loop", "ended", "timer", "waiters")

    timer: asyncio.TimerHandle

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.waiters: dict[str, list[asyncio.Future[bytes | None]]] = {}
        self.ended = False

    def join(self, key: str) -> asyncio.Future[bytes | None]:
        waiter: asyncio.Future[bytes | None] = self._loop.create_future()
        self.waiters.setdefault(key, []).append(waiter)
        return waiter

    def end(self, values: dict[str, bytes | None] | None) -> None:
        self.ended = True
        self.timer.cancel()
        for key, waiters in self.waiters.items():
            for waiter in waiters:
                if waiter.done():  # cancelled
                    continue
                if values is None:
                    waiter.set_exception(NoAnswer())
                else:
                    waiter.set_result(values[key])
