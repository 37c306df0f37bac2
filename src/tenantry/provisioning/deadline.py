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
"""Seconds added to the deadline of a write, so that the store's own timeout ends first. The error from that timeout
says whether the write was committed."""


class DeadlineExceeded(Exception): ...


class Deadline:
    """The time limit, in seconds, for all store calls of a request together. By default there is no limit.

    A write may take ``settling()`` seconds longer: the value of ``Store.settling``."""

    __slots__ = ("_left", "_settling")

    def __init__(self, seconds: float = math.inf, settling: Callable[[], float] = lambda: 0.0) -> None:
        self._left = seconds
        self._settling = settling

    async def read(self, call: Call[T]) -> T:
        """Await ``call``. Raises StoreUnavailable if the time limit is reached."""
        begun = time.monotonic()
        try:
            return await run_with_timeout(self._left, call)
        except DeadlineExceeded:
            raise StoreUnavailable("the store is too slow or busy: try again") from None
        finally:
            self._left -= time.monotonic() - begun

    async def write(self, call: Call[T]) -> T:
        """Await ``call``, which writes. Raises StoreUnavailable if no time is left to start it, and OutcomeUnknown if
        it does not finish in time."""
        if self._left <= 0:
            call.close()
            raise StoreUnavailable("the store is too slow or busy: try again")
        try:
            return await run_with_timeout(self._left + WRITE_GRACE_SECONDS, call, self._settling)
        except DeadlineExceeded:
            raise OutcomeUnknown(
                "the store has not confirmed the write in time: check with GET before you try again"
            ) from None


async def run_with_timeout(seconds: float, call: Call[T], extra: Callable[[], float] = lambda: 0.0) -> T:
    """Await ``call`` for at most ``seconds``. Shortly before this time is over, ``extra()`` is called, and may return a
    number of seconds to wait longer. Raises DeadlineExceeded."""
    # Most calls finish without suspending, and a timer would take a tenth of a request's time.
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
            raise  # the call itself raised it
    finally:
        if extension is not None:
            extension.cancel()
    raise DeadlineExceeded


_EXTEND_BEFORE_SECONDS: Final = 0.02
"""``run_with_timeout`` calls ``extra`` this many seconds before the deadline."""


def _extend(limit: asyncio.Timeout, ends: float, extra: Callable[[], float]) -> None:
    seconds = extra()
    if seconds > 0:
        limit.reschedule(ends + seconds + WRITE_GRACE_SECONDS)


class _Started(Generator[Any, Any, T]):
    def __init__(self, call: Call[T], waiting_for: Any) -> None:
        self._call = call
        self._first = [waiting_for]

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def send(self, value: Any) -> Any:
        return self._first.pop() if self._first else self._call.send(value)

    def throw(self, *error: Any) -> Any:
        return self._call.throw(*error)
