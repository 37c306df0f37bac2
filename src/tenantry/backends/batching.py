from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class NoAnswer(Exception): ...


class TickBatcher(Generic[K, V]):
    """Combines the reads that callers request during one tick of an event loop, to save round trips.

    - ``fetch`` gets at most ``size`` keys and the deadline of the first caller, and returns one value for each key.
    - ``concurrent``: maximum number of batches that run at once.
    - ``budget``: seconds after which the callers get NoAnswer. A fetch that has begun continues.
    - ``ended`` is called once for each batch: with True if the values came within the budget.
    """

    def __init__(
        self,
        fetch: Callable[[list[K], float], Coroutine[Any, Any, Mapping[K, V]]],
        *,
        size: int,
        concurrent: int | None = None,
        budget: float | None = None,
        ended: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._fetch = fetch
        self._size = size
        self._concurrent = concurrent
        self._budget = budget
        self._ended = ended
        self._waiting: deque[_Batch[K, V]] = deque()
        self._tasks: set[asyncio.Task[Mapping[K, V]]] = set()

    def ask(self, key: K, deadline: float = 0.0) -> asyncio.Future[V]:
        """Request the value of ``key``. The future fails with the error of ``fetch``, or with NoAnswer."""
        loop = asyncio.get_running_loop()
        batch = self._waiting[-1] if self._waiting else None
        if batch is None or len(batch.waiters) >= self._size:
            batch = _Batch(deadline)
            if self._budget is not None:
                batch.timer = loop.call_later(self._budget, self._give_up, batch)
            self._waiting.append(batch)
            loop.call_soon(self._send)
        waiter: asyncio.Future[V] = loop.create_future()
        batch.waiters.setdefault(key, []).append(waiter)
        return waiter

    def _send(self) -> None:
        while self._waiting and (self._concurrent is None or len(self._tasks) < self._concurrent):
            batch = self._waiting.popleft()
            fetch = self._fetch(list(batch.waiters), batch.deadline)
            task = asyncio.get_running_loop().create_task(fetch, name="tenantry.batch")
            self._tasks.add(task)
            task.add_done_callback(partial(self._fetched, batch))

    def _fetched(self, batch: _Batch[K, V], task: asyncio.Task[Mapping[K, V]]) -> None:
        self._tasks.discard(task)
        error = NoAnswer() if task.cancelled() else task.exception()
        if error is None:
            self._end(batch, task.result())
        else:
            self._end(batch, error if isinstance(error, Exception) else NoAnswer())
        if self._waiting:
            self._send()

    def _give_up(self, batch: _Batch[K, V]) -> None:
        if batch in self._waiting:
            self._waiting.remove(batch)
        self._end(batch, NoAnswer())

    def _end(self, batch: _Batch[K, V], outcome: Mapping[K, V] | Exception) -> None:
        if not batch.answered:  # a late answer after the budget is ignored
            batch.answer(outcome)
            self._ended(not isinstance(outcome, Exception))

    async def aclose(self) -> None:
        while self._waiting:
            self._give_up(self._waiting[0])
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Batch(Generic[K, V]):
    __slots__ = ("answered", "deadline", "timer", "waiters")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.waiters: dict[K, list[asyncio.Future[V]]] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.answered = False

    def answer(self, outcome: Mapping[K, V] | Exception) -> None:
        self.answered = True
        if self.timer is not None:
            self.timer.cancel()
        for key, waiters in self.waiters.items():
            for waiter in waiters:
                if waiter.done():  # the waiter was cancelled
                    continue
                if isinstance(outcome, Exception):
                    waiter.set_exception(outcome)
                else:
                    waiter.set_result(outcome[key])
