"""One load of a user group: its waiters, the backend read, the meaning of the answer, and counters."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar, cast

from tenantry.errors import StoreUnavailable, TenantryError, error_location
from tenantry.groups import LookupResult
from tenantry.tracing import Span

if TYPE_CHECKING:
    from tenantry.cache import PendingLoad
    from tenantry.groups import Token, UserGroup
    from tenantry.ports import Backend, SnapshotBackend

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")

WAKEN_AT_ONCE: Final = 64
"""Waiters that get the result before other work of the loop."""


class SingleFlight(Generic[T]):
    """One load and its waiters, on one event loop. Its own task works ``with`` the flight, which passes errors to the
    waiters, so the cancellation of a waiter does not affect the others. ``pending`` is None until the backend is asked.
    """

    __slots__ = ("_loop", "_waiters", "pending", "task")

    task: asyncio.Task[None]

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pending: PendingLoad | None = None
        self._loop = loop
        self._waiters: list[asyncio.Future[T]] = []

    def join(self) -> asyncio.Future[T]:
        """A future for another waiter."""
        waiter: asyncio.Future[T] = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def set_result(self, result: T) -> None:
        """Give the result to all waiters."""
        self._wake(0, result, None)

    def set_stopped(self) -> None:
        """The load was cancelled: waiters get StoreUnavailable."""
        self._wake(0, None, StoreUnavailable("the resolver was closed during the look-up: try again"))

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, asyncio.CancelledError):
            self.set_stopped()
        elif error is not None:
            self._wake(0, None, error)
        return isinstance(error, Exception)  # others stop the task or the loop

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
    """Wraps a backend that has only ``find``: its answers have no generation."""

    def __init__(self, backend: Backend) -> None:
        self.find = backend.find

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # all are fresh
        """The result of ``find``."""
        return LookupResult(await self.find(token))


class BackendReader:
    """Reads a backend and counts the outcomes."""

    def __init__(self, backend: Backend, counters: Counters) -> None:
        self.name: str = type(backend).__name__
        # hasattr, for isinstance does not see attributes that a wrapper gives by ``__getattr__`` (Python 3.12).
        has_snapshots = hasattr(backend, "read_at_snapshot")
        self.backend: SnapshotBackend = cast("SnapshotBackend", backend) if has_snapshots else FindOnlyBackend(backend)
        self._counters = counters

    async def read(self, token: Token, *, fresh: bool) -> LookupResult:
        """One counted read. Raises StoreUnavailable, TimeoutError, or another TenantryError of the backend."""
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
            logger.error("the backend failed: %s", failure.location)  # noqa: TRY400  # its text may hold a secret
            raise StoreUnavailable("the backend cannot look up user groups: try again") from failure.__cause__
        except TenantryError as error:
            self._counters.failures += 1
            if error.generic_message is not None:  # the caller gets another message
                logger.warning("%s: %s", error.code, error.message)
            raise
        except TimeoutError:
            self._counters.failures += 1
            raise


class BackendAnswer(NamedTuple):
    """A backend's answer with its pending load, when it was requested, and whether second-level caches were
    bypassed."""

    pending: PendingLoad
    started: float
    fresh: bool
    result: LookupResult


class BackendFailed(Exception):
    """A backend raised a foreign error, its cause; ``location`` is its type and place."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class BackendErrors:
    """Turns errors of a backend into BackendFailed, except TenantryError and TimeoutError."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, TenantryError | TimeoutError):
            raise BackendFailed(error_location(error)) from error


class Freshness(Enum):
    """The meaning of an answer for its token."""

    GOOD = "good"
    """Use it, and cache it for at most its ``seconds``."""
    USE_ONCE = "use once"
    """Use it without caching."""
    NO_GROUP = "no group"
    """The token has no group here."""
    MISMATCHED = "mismatched"
    """It is for another token: a fault of the backend."""

    @classmethod
    def classify(cls, result: LookupResult, token: Token, environment: str | None) -> Freshness:
        """A token in its grace is cached only if the backend says for how long, by the store's clock."""
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
        if not may_have_grace(group, token):
            return cls.NO_GROUP
        return cls.USE_ONCE if seconds is None else cls.GOOD


def may_have_grace(group: UserGroup, token: Token) -> bool:
    """Whether this is the previous version and its rotation granted a grace. Only the store knows if it lasts."""
    return group.grace_until is not None and token.version == group.token_version - 1


@dataclass(slots=True)
class Counters:
    """Counters of a resolver; ``hits + misses`` is the number of tokens. Not exact with several threads."""

    hits: int = 0
    """Answered from the cache."""
    misses: int = 0
    """The sum of ``forged``, ``refused``, ``joined`` and loads begun."""
    forged: int = 0
    """Malformed or not signed by our keys: refused without I/O."""
    refused: int = 0
    """Known as unknown, outdated or expired: refused without I/O."""
    joined: int = 0
    """Waited for another request's load."""
    loads: int = 0
    """Backend reads; a load whose first answer is outdated reads twice."""
    fresh: int = 0
    """Reads that bypass second-level caches."""
    stale: int = 0
    """Answers not used because the group was, or may have been, written to since."""
    unknown: int = 0
    """Loads without a group in the resolver's environment."""
    mismatched: int = 0
    """Answers for another token, refused: a fault of the backend."""
    failures: int = 0
    """Failed loads."""
    polls: int = 0
    """Answered polls."""
    failed_polls: int = 0
    """Failed polls."""
    evicted: int = 0
    """Writes elsewhere that evicted usable answers."""
    flushed: int = 0
    """Flushes of the whole cache: broken change list, other store or slots, lost bus messages."""
    last_staleness: float = 0.0
    """Seconds from the last such write to its poll, by the store's clock."""
    max_staleness: float = 0.0
    """The highest of these; below the bound on a host whose clock runs as fast as the store's."""
