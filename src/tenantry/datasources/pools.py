"""Pools: the open data sources of one event loop, bounded in number.

An open source belongs to (environment, source, URL): one whose URL changed is opened anew, and the old one is closed
when its last query has ended.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tenantry.datasources.driver import DataSource
from tenantry.datasources.factory import DriverFactory, create_source
from tenantry.datasources.limits import Limits
from tenantry.errors import SourceUnavailable
from tenantry.groups import RegisteredSource


@dataclass(slots=True)
class _Pool:
    registered: RegisteredSource
    source: DataSource
    users: int = 0
    retired: bool = False


class Pools:
    """Opens, shares and closes DataSources; at most ``limits.max_sources`` at a time."""

    def __init__(self, limits: Limits, engines: Mapping[str, DriverFactory]) -> None:
        self._limits = limits
        self._engines = engines
        self._open: OrderedDict[tuple[int, str], _Pool] = OrderedDict()  # least recently used first
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def use(self, registered: RegisteredSource) -> AsyncIterator[DataSource]:
        """The open source for as long as the block runs. Raises InvalidSource, SourceUnavailable."""
        pool = self._find(registered)
        pool.users += 1
        try:
            yield pool.source
        finally:
            pool.users -= 1
            if pool.retired and not pool.users:
                self._close(pool)

    def _find(self, registered: RegisteredSource) -> _Pool:
        if asyncio.get_running_loop() is not self._loop:
            self._bind_to_loop()
        key = (registered.environment.id, registered.id)
        pool = self._open.get(key)
        if pool is not None and pool.registered == registered:
            self._open.move_to_end(key)
            return pool
        opened = _Pool(registered, create_source(registered, self._limits, self._engines))
        if pool is not None:
            self._retire(key)
        elif len(self._open) >= self._limits.max_sources:
            self._evict_idle()
        self._open[key] = opened
        return opened

    def _evict_idle(self) -> None:
        for key, pool in self._open.items():
            if not pool.users:
                self._retire(key)
                return
        raise SourceUnavailable(f"{self._limits.max_sources} data sources are busy at once; try again", retry_after=1)

    def _retire(self, key: tuple[int, str]) -> None:
        pool = self._open.pop(key)
        pool.retired = True
        if not pool.users:
            self._close(pool)

    def _close(self, pool: _Pool) -> None:
        task = asyncio.get_running_loop().create_task(pool.source.aclose())
        self._closing.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(self._closing.discard)

    def _bind_to_loop(self) -> None:
        """Connections belong to the event loop that opened them. Those of a closed loop are dropped."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed() and self._open:
            raise RuntimeError("one DataSources serves one event loop: make another one for this loop")
        for pool in self._open.values():
            pool.source.abandon()
        self._open.clear()
        self._closing.clear()
        self._loop = loop

    async def aclose(self) -> None:
        """Stops what is running and closes every connection. The pools can be used again: they open anew."""
        self._bind_to_loop()
        for key in list(self._open):
            pool = self._open.pop(key)
            self._close(pool)
        while self._closing:
            await asyncio.gather(*self._closing)
