from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from tenantry.errors import StoreUnavailable, TenantryError, error_location
from tenantry.groups import LookupResult
from tenantry.ports import has_snapshots
from tenantry.tracing import Span

if TYPE_CHECKING:
    from tenantry.cache import PendingLoad
    from tenantry.groups import Token
    from tenantry.ports import Backend, SnapshotBackend

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")

WAKEN_AT_ONCE: Final = 64
"""Maximum number of waiters that are woken in one step of the event loop."""


class SingleFlight(Generic[T]):
    """A load that several requests on one event loop wait for. The load runs in a separate task, so cancelling one
    waiter does not affect the others. As a context manager, it passes an error of its block to the waiters."""

    __slots__ = ("_loop", "_waiters", "pending", "task")

    task: asyncio.Task[None]

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pending: PendingLoad | None = None
        self._loop = loop
        self._waiters: list[asyncio.Future[T]] = []

    def join(self) -> asyncio.Future[T]:
        waiter: asyncio.Future[T] = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def set_result(self, result: T) -> None:
        self._wake(0, result, None)

    def set_stopped(self) -> None:
        self._wake(0, None, StoreUnavailable("the look-up was stopped: try again"))

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, asyncio.CancelledError):
            self.set_stopped()
        elif error is not None:
            self._wake(0, None, error)
        return isinstance(error, Exception)  # a CancelledError or KeyboardInterrupt must propagate

    def _wake(self, first: int, result: T | None, error: BaseException | None) -> None:
        for waiter in self._waiters[first : first + WAKEN_AT_ONCE]:
            if waiter.done():
                continue
            if result is not None:
                waiter.set_result(result)
            elif error is not None:
                waiter.set_exception(error)
        first += WAKEN_AT_ONCE
        if first < len(self._waiters):
            self._loop.call_soon(self._wake, first, result, error)


class FindOnlyBackend:
    def __init__(self, backend: Backend) -> None:
        self.find = backend.find

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        return LookupResult(await self.find(token))


class BackendReader:
    def __init__(self, backend: Backend, counters: Counters) -> None:
        self.name: str = type(backend).__name__
        self.backend: SnapshotBackend = backend if has_snapshots(backend) else FindOnlyBackend(backend)
        self._counters = counters

    async def read(self, token: Token, *, fresh: bool) -> LookupResult:
        """Read the backend. ``fresh``: whether to bypass second-level caches. Raises the backend's TenantryError or
        TimeoutError, and StoreUnavailable for its other errors."""
        self._counters.loads += 1
        self._counters.fresh += fresh
        try:
            with (
                BackendErrors(),
                Span("tenantry.look", {"tenantry.backend": self.name, "tenantry.fresh": fresh}),
            ):
                return await self.backend.read_at_snapshot(token, fresh=fresh)
        except BackendFailed as failure:
            self._counters.failures += 1
            logger.error("the backend failed: %s", failure.location)  # noqa: TRY400  # the traceback may contain a secret
            raise StoreUnavailable("the backend cannot look up user groups: try again") from failure.__cause__
        except TenantryError as error:
            self._counters.failures += 1
            if error.generic_message is not None:  # callers see only a generic error
                logger.warning("%s: %s", error.code, error.message)
            raise
        except (TimeoutError, asyncio.CancelledError):
            self._counters.failures += 1
            raise


class BackendAnswer(NamedTuple):
    pending: PendingLoad
    started: float
    fresh: bool
    result: LookupResult


class BackendFailed(Exception):
    """A backend raised an unexpected error. ``location``: type, file and line of that error, without its message."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class BackendErrors:
    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, TenantryError | TimeoutError):
            raise BackendFailed(error_location(error)) from error


class Freshness(Enum):
    GOOD = "good"
    """Use the answer, and cache it for at most ``LookupResult.seconds``."""
    USE_ONCE = "use once"
    """Use the answer, but do not cache it."""
    NO_GROUP = "no group"
    """There is no group to use: the group does not exist or is in another environment, or the token is outdated."""
    MISMATCHED = "mismatched"
    """The backend has answered for another token. This is a bug in the backend."""

    @classmethod
    def classify(cls, result: LookupResult, token: Token, environment: str | None) -> Freshness:
        group, seconds = result.group, result.seconds
        if group is None:
            return cls.NO_GROUP
        if group.handle != token.handle or group.environment.tag is not token.tag:
            return cls.MISMATCHED
        if environment is not None and group.environment.name != environment:
            return cls.NO_GROUP
        if seconds is not None and seconds <= 0:
            return cls.NO_GROUP
        if token.version == group.token_version:
            return cls.GOOD
        if not group.accepts(token.version):
            return cls.NO_GROUP
        # The grace ends by the store's clock, so cache the token only if the backend says for how many seconds.
        return cls.USE_ONCE if seconds is None else cls.GOOD


@dataclass(slots=True)
class Counters:
    """Counts of a resolver's work: it has resolved ``hits + misses`` tokens and passes. If threads share the
    resolver, the counts are approximate."""

    hits: int = 0
    """Tokens and passes answered from the cache. A pass that is not cached counts as a hit if its token is cached."""
    misses: int = 0
    """Tokens and passes that were not answered from the cache. They are counted again in ``forged``, ``refused`` or
    ``joined``, or began a new load."""
    forged: int = 0
    """Tokens that are malformed or not signed with one of our keys. The backend is not read for them."""
    refused: int = 0
    """Tokens that, according to the cache, are outdated, expired, suspended or without a group. Also passes that have
    ended, are revoked or have a claim that is not allowed. The backend is not read for them."""
    joined: int = 0
    """Tokens whose request waited for the load of another request."""
    loads: int = 0
    """Reads of the backend. A load reads twice if its first answer is outdated."""
    fresh: int = 0
    """Reads that bypass second-level caches."""
    stale: int = 0
    """Backend answers that may have been outdated. The backend was then read again."""
    unknown: int = 0
    """Loads that found no group with the token in the resolver's environment."""
    mismatched: int = 0
    """Backend answers for another token than the requested one."""
    failures: int = 0
    """Reads that failed, took too long or were stopped by ``aclose``."""
    polls: int = 0
    """Answered polls."""
    failed_polls: int = 0
    evicted: int = 0
    """Reported writes that removed at least one valid entry from the cache."""
    flushed: int = 0
    """How often a cache with tokens was flushed. Reasons are a gap in the change list, a list from another store, new
    slots, a removed key, lost bus messages and ``aclose``."""
    last_staleness: float = 0.0
    """Seconds, by the store's clock, from the last write that removed a valid cache entry to the poll that listed this
    write."""
    max_staleness: float = 0.0
    """The highest ``last_staleness``."""
