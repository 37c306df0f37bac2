"""Deadline: how long one request waits for its store, over all the calls that it makes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, TypeAlias, TypeVar

from tenantry.errors import OutcomeUnknown, StoreUnavailable

T = TypeVar("T")
Call: TypeAlias = Coroutine[Any, Any, T]

WRITE_GRACE_SECONDS: Final = 0.3
"""How much longer than the deadline a write is waited for. A store has a deadline of its own and knows, as we do not,
whether the write was done: its error comes first."""


class DeadlineExceeded(Exception):
    """A call had not ended when its time was over, and was cancelled."""


class Deadline:
    """``seconds`` for all calls of the store together; each takes from what the others left. Without end by default.

    ``settling`` gives the seconds for which a committed write still waits until other processes know of it
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
            return await run_with_timeout(self._left, call)
        except DeadlineExceeded:
            raise StoreUnavailable("the store is too slow or busy: try again") from None
        finally:
            self._left -= time.monotonic() - begun

    async def write(self, call: Call[T]) -> T:
        """Raises StoreUnavailable when no time is left to start, and OutcomeUnknown when the write has not ended in
        time: it may be done or not."""
        if self._left <= 0:
            call.close()
            raise StoreUnavailable("the store is too slow or busy: try again")
        try:
            return await run_with_timeout(self._left + WRITE_GRACE_SECONDS, call, self._settling)
        except DeadlineExceeded:
            raise OutcomeUnknown(
                "the store has not confirmed the write in time: look with GET before trying again"
            ) from None


async def run_with_timeout(seconds: float, call: Call[T], extra: Callable[[], float] = lambda: 0.0) -> T:
    """The result of ``call``. Raises DeadlineExceeded if it has not ended after ``seconds``, and the seconds that
    ``extra`` gives then.

    Its first step is taken here, because most calls end with it: the body is there already, or a row of SQLite.
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
                loop = asyncio.get_running_loop()
                extension = loop.call_at(ends - _EXTEND_BEFORE_SECONDS, _extend, limit, ends, extra)
            return await _Started(call, waiting_for)
    except TimeoutError:
        if not limit.expired():
            raise  # the call's own
    finally:
        if extension is not None:
            extension.cancel()
    raise DeadlineExceeded


_EXTEND_BEFORE_SECONDS: Final = 0.02
"""How long before the deadline ``extra`` is asked."""


def _extend(limit: asyncio.Timeout, ends: float, extra: Callable[[], float]) -> None:
    seconds = extra()
    if seconds > 0:
        limit.reschedule(ends + seconds + WRITE_GRACE_SECONDS)


class _Started(Generator[Any, Any, T]):
    """``await`` of it goes on with a call whose first step was taken, and waits for ``waiting_for``. An exception that
    comes in, a cancellation too, goes to the call."""

    def __init__(self, call: Call[T], waiting_for: Any) -> None:
        self._call = call
        self._first = [waiting_for]

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def send(self, value: Any) -> Any:
        return self._first.pop() if self._first else self._call.send(value)

    def throw(self, *error: Any) -> Any:
        return self._call.throw(*error)
