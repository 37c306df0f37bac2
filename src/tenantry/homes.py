"""Homes: what belongs to one event loop, made when it is first asked for there and closed with it.

A parked asynchronous generator is closed by ``loop.shutdown_asyncgens``: so a loop that ends closes its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary


class Closing(Protocol):
    """Something that holds connections."""

    async def aclose(self) -> None: ...


T = TypeVar("T", bound=Closing)


class Homes(Generic[T]):
    """One ``T`` for each event loop."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._here: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = (
            WeakKeyDictionary()
        )

    async def here(self) -> T:
        """That of the running loop."""
        loop = asyncio.get_running_loop()
        known = self._here.get(loop)
        if known is not None:
            return known[0]
        for other in [other for other in self._here if other.is_closed()]:
            self._here.pop(other, None)  # what it made keeps it alive, so it would never leave by itself
        made = self._make()
        parked = _until_the_loop_ends(made)
        self._here[loop] = made, parked
        await anext(parked)
        return made

    async def aclose(self) -> None:
        """Closes that of the running loop; the next ``here`` makes another one."""
        known = self._here.pop(asyncio.get_running_loop(), None)
        if known is not None:
            await known[1].aclose()


async def _until_the_loop_ends(made: Closing) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await made.aclose()
