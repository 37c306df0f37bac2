"""Patience: how long one request waits for its store, however many calls it makes of it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, Final, TypeAlias, TypeVar

from tenantry.errors import OutcomeUnknown, StoreUnavailable

T = TypeVar("T")
Call: TypeAlias = Coroutine[Any, Any, T]

LAST_WORD_SECONDS: Final = 0.3
"""How much longer than that a write is waited for. A store has a deadline of its own and knows, as we do not, whether
the write was done: it is let speak first."""


class TimeIsUp(Exception):
    """A call was still waiting when its time was over, and was cancelled."""


class Patience:
    """``seconds`` for all calls of the store together; each takes from what the others left. Endless by default.

    ``settling`` gives the seconds for which a write that was committed still waits for others to hear of it
    (``GroupStore.settling``): they come on top.
    """

    __slots__ = ("_left", "_settling")

    def __init__(self, seconds: float = math.inf, settling: Callable[[], float] = lambda: 0.0) -> None:
        self._left = seconds
        self._settling = settling

    async def read(self, call: Call[T]) -> T:
        """Raises StoreUnavailable when the time is used up."""
        begun = time.monotonic()
        try:
            return await within(self._left, call)
        except TimeIsUp:
            raise StoreUnavailable("the store is too slow or busy: try again") from None
        finally:
            self._left -= time.monotonic() - begun

    async def write(self, call: Call[T]) -> T:
        """Raises StoreUnavailable when no time is left to begin, and OutcomeUnknown when the write has not ended in
        time: it may be done or not."""
        if self._left <= 0:
            call.close()
            raise StoreUnavailable("the store is too slow or busy: try again")
        try:
            return await within(self._left + LAST_WORD_SECONDS, call, self._settling)
        except TimeIsUp:
            raise OutcomeUnknown(
                "the store has not confirmed the write in time: look with GET before trying again"
            ) from None


async def within(seconds: float, call: Call[T], longer: Callable[[], float] = lambda: 0.0) -> T:
    """What ``call`` gives. Raises TimeIsUp if it is still waiting after ``seconds``, and what ``longer`` gives then.

    Its first step is taken here, because most calls are done with it: they find the body there, or a row in SQLite.
    Such a call costs no timer, which would be a tenth of the whole request.
    """
    try:
        waiting_for = call.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    limit = asyncio.timeout(None if seconds == math.inf else seconds)
    extension = None
    try:
        async with limit:
            if (ends := limit.when()) is not None:
                extension = asyncio.get_running_loop().call_at(ends - _BEFORE, _extend, limit, ends, longer)
            return await _go_on(call, waiting_for)
    except TimeoutError:
        if not limit.expired():
            raise  # the call's own
    finally:
        if extension is not None:
            extension.cancel()
    raise TimeIsUp


_BEFORE: Final = 0.02


def _extend(limit: asyncio.Timeout, ends: float, longer: Callable[[], float]) -> None:
    seconds = longer()
    if seconds > 0:
        limit.reschedule(ends + seconds + LAST_WORD_SECONDS)


@coroutine
def _go_on(call: Call[T], waiting_for: Any) -> Generator[Any, Any, T]:
    """``await call`` for one that waits for ``waiting_for`` already."""
    while True:
        try:
            step = partial(call.send, (yield waiting_for))
        except BaseException as error:  # noqa: BLE001 - also a cancellation: it is the call that is to hear of it
            step = partial(call.throw, error)
        try:
            waiting_for = step()
        except StopIteration as done:
            result: T = done.value
            return result
