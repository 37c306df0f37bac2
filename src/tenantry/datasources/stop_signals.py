from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from types import FrameType
from typing import Any, Final

from tenantry.datasources.sources import DataSources

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_log = logging.getLogger(__name__)


@asynccontextmanager
async def stop_on_signals(sources: DataSources) -> AsyncIterator[None]:
    """Stop queries at SIGTERM or SIGINT. Without this, servers wait for the queries before they end the lifespan.

    Use it in a lifespan: ``async with sources, stop_on_signals(sources): yield``. A signal starts ``sources.stop()``
    and calls the previous handler. If the previous handler is ``SIG_DFL``, the process ends once the queries have
    ended, after five seconds at most. Signals that the process ignores stay ignored.

    Outside the main thread, this only writes a log message (``tenantry.datasources.stop_signals``, INFO). Raises
    RuntimeError if the previous handler was not set from Python.
    """
    if threading.current_thread() is not threading.main_thread():
        _log.info("stop_on_signals does nothing here: only the main thread receives signals")
        yield
        return
    with ExitStack() as installed:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                installed.callback(_Handler(number, sources).restore)
        yield


class _Handler:
    def __init__(self, number: signal.Signals, sources: DataSources) -> None:
        self._number = number
        self._stop = sources.stop
        self._loop = asyncio.get_running_loop()
        self._stopping: asyncio.Task[None] | None = None
        former = signal.getsignal(number)
        if former is None:
            raise RuntimeError(
                f"the handler of {number.name} was not set from Python: call sources.stop() in that handler instead"
            )
        self._former: Callable[[int, FrameType | None], Any] | int = former
        signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._begin)  # call_soon_threadsafe also wakes the loop
        if callable(self._former):
            self._former(number, frame)

    def _begin(self) -> None:
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._stop())  # the loop holds tasks only weakly
            if not callable(self._former):
                self._stopping.add_done_callback(self._end_process)

    def _end_process(self, _: asyncio.Task[None]) -> None:
        signal.signal(self._number, self._former)
        signal.raise_signal(self._number)

    def restore(self) -> None:
        if signal.getsignal(self._number) == self._handle:
            signal.signal(self._number, self._former)
