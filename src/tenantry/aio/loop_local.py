from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class LoopLocal(Generic[T]):
    """Keeps one value for each event loop. ``close`` is called with a loop's value when the loop shuts down, or when
    ``aclose`` is called in it."""

    def __init__(self, create: Callable[[], T], close: Callable[[T], Awaitable[None]] | None = None) -> None:
        self._create = create
        self._close = close
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None] | None]] = (
            WeakKeyDictionary()
        )

    def get(self) -> T:
        """Return the running loop's value, created on first use. Raises RuntimeError without a running loop."""
        loop = asyncio.get_running_loop()
        known = self._values.get(loop)
        if known is not None:
            return known[0]
        for other in [reference() for reference in self._values.keyrefs()]:
            if other is not None and other.is_closed():
                self._values.pop(other, None)  # a value that refers to its loop would keep that loop alive
        value, closing = self._create(), None
        if self._close is not None:
            closing = _close_with_loop(value, self._close)
            with suppress(StopIteration):  # run to its ``yield``, so that the loop closes it at shutdown
                anext(closing).__await__().send(None)
        self._values[loop] = value, closing
        return value

    def exists(self) -> bool:
        return asyncio.get_running_loop() in self._values

    async def aclose(self) -> None:
        known = self._values.pop(asyncio.get_running_loop(), None)
        if known is not None and known[1] is not None:
            await known[1].aclose()


async def _close_with_loop(value: T, close: Callable[[T], Awaitable[None]]) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await close(value)


def silence_destroy_warning(task: asyncio.Task[None]) -> None:
    task._log_destroy_pending = False  # type: ignore[attr-defined]
