"""An event loop whose time is simulated: an hour passes at once, and things happen in the order of their times."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Found = TypeVar("Found")


class _Selector(selectors.DefaultSelector):
    """Lets no time pass: it says how long it was to wait. It asks the machine nothing: there are no sockets."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout:
            self.now += timeout
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Runs tasks and timers; no threads."""

    def __init__(self) -> None:
        self._selector_of_time = _Selector()
        super().__init__(self._selector_of_time)

    def time(self) -> float:
        return self._selector_of_time.now


def simulate(main: Coroutine[Any, Any, Found]) -> Found:
    """Runs it in such a loop."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(main)
