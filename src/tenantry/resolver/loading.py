"""One load of a user group: who waits for it, the read of the backend, what its answer means, and what is counted."""

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
"""How many waiters get the result before the loop does other work: all sockets of a group may wait for one load."""


class SingleFlight(Generic[T]):
    """One load and those who wait for it, all on one event loop. ``pending`` is None until the backend is asked.

    The task belongs to whoever made the flight, so that the cancellation of one who waits, the first one too, harms
    nobody else. It does its work ``with`` the flight, which gives an error to those who wait: a callback of the task
    would cost a tenth of a load.
    """

    __slots__ = ("_loop", "_waiters", "pending", "task")

    task: asyncio.Task[None]

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pending: PendingLoad | None = None
        self._loop = loop
        self._waiters: list[asyncio.Future[T]] = []

    def join(self) -> asyncio.Future[T]:
        """Another one who waits: to be awaited."""
        waiter: asyncio.Future[T] = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def set_result(self, result: T) -> None:
        """What was loaded, for everybody who waits."""
        self._wake(0, result, None)

    def set_stopped(self) -> None:
        """The load was cancelled: who waits gets StoreUnavailable."""
        self._wake(0, None, StoreUnavailable("the load was stopped"))

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, asyncio.CancelledError):
            self.set_stopped()
        elif error is not None:
            self._wake(0, None, error)
        return isinstance(error, Exception)  # what must stop the loop, or the task, goes on to stop it

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
    """Around a backend that has no more than ``find``: its answers have no generation."""

    def __init__(self, backend: Backend) -> None:
        self.find = backend.find

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # all are fresh
        """What ``find`` finds."""
        return LookupResult(await self.find(token))


class BackendReader:
    """Reads a backend, and counts what comes of it."""

    def __init__(self, backend: Backend, counters: Counters) -> None:
        self.name: str = type(backend).__name__
        # By hasattr, for a wrapper may pass on by ``__getattr__`` what it does not have: from Python 3.12 on isinstance
        # does not see that, and the wrapper of a store would be taken for a backend that has only ``find``.
        has_snapshots = hasattr(backend, "read_at_snapshot")
        self.backend: SnapshotBackend = cast("SnapshotBackend", backend) if has_snapshots else FindOnlyBackend(backend)
        self._counters = counters

    async def read(self, token: Token, *, fresh: bool) -> LookupResult:
        """One read, counted. Raises StoreUnavailable, TimeoutError, and any other TenantryError of the backend."""
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
            raise StoreUnavailable("user groups cannot be looked up just now") from failure.__cause__
        except TenantryError as error:
            self._counters.failures += 1
            if error.generic_message is not None:  # the caller gets another message
                logger.warning("%s: %s", error.code, error.message)
            raise
        except TimeoutError:
            self._counters.failures += 1
            raise


class BackendAnswer(NamedTuple):
    """An answer, the time of its question, as old as which it is, the fill that was begun for it, and whether only the
    store of record was asked."""

    pending: PendingLoad
    started: float
    fresh: bool
    result: LookupResult


class BackendFailed(Exception):
    """A backend raised what it should not: that is the cause, and ``location`` says where and of which type it was."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class BackendErrors:
    """Around calls of a backend: whatever it raises becomes a BackendFailed, but a TenantryError or a TimeoutError."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, TenantryError | TimeoutError):
            raise BackendFailed(error_location(error)) from error


class Freshness(Enum):
    """What an answer means for the token that was asked about."""

    GOOD = "good"
    """To be used, and cached for its ``seconds`` at most."""
    USE_ONCE = "use once"
    """To be used now and not cached."""
    NO_GROUP = "no group"
    """The token has no group here."""
    MISMATCHED = "mismatched"
    """The answer is of another token, a fault of the backend."""

    @classmethod
    def classify(cls, result: LookupResult, token: Token, environment: str | None) -> Freshness:
        """An old token in its grace is cached only if the backend says for how long, by the store's clock."""
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
    """True for the version just before, where a rotation gave it a grace. Whether that lasts, the store knows."""
    return group.grace_until is not None and token.version == group.token_version - 1


@dataclass(slots=True)
class Counters:
    """What a resolver did since it was made; ``hits + misses`` is the number of tokens looked at.

    Plain numbers: reading them costs nothing, and with several threads they may fall a little short.
    """

    hits: int = 0
    """Answered from the cache."""
    misses: int = 0
    """Everything else: the sum of ``forged``, ``refused``, ``joined`` and the loads begun."""
    forged: int = 0
    """Malformed, or not signed by one of our keys: refused without I/O."""
    refused: int = 0
    """Signed, but remembered as unknown, older than the cached group or of one that has ended: refused without I/O."""
    joined: int = 0
    """Waited for a load that another request had begun."""
    loads: int = 0
    """Reads of the backend. A load that finds the first answer too old reads twice."""
    fresh: int = 0
    """Reads that only the store of record could answer, not a cache before it."""
    stale: int = 0
    """Answers that were not used, because the group had been written to since, or that was not known."""
    unknown: int = 0
    """Loads that found no group for the token, or one outside the resolver's environment."""
    mismatched: int = 0
    """Loads whose answer was not of the token, and was refused: a fault of the backend."""
    failures: int = 0
    """Loads that the backend did not answer."""
    polls: int = 0
    """Questions for changes that were answered."""
    failed_polls: int = 0
    """Questions for changes that were not."""
    evicted: int = 0
    """Writes elsewhere that took away what could still be used, by a poll or a bus."""
    flushed: int = 0
    """How often all was forgotten: the list of changes broke, the store or its slots were others, a bus lost some."""
    last_staleness: float = 0.0
    """Seconds from the last such write to the poll that brought it, by the store's clock: how old a group was shown."""
    max_staleness: float = 0.0
    """The highest of these; below the resolver's ``staleness`` on a host whose clock runs as fast as the store's."""
