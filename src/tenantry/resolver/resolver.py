"""Resolver: the string that a request carries becomes a user group, with as little I/O as can be.

A hit is a dict look and one monotonic clock call. A miss checks the signature first, so a forgery costs no I/O, no
memory and no task; then one task per token asks the backend, whoever many wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NoReturn

from tenantry.cache import Fill, GroupCache
from tenantry.errors import InvalidToken, StoreUnavailable, TenantryError
from tenantry.resolver.counters import Counters
from tenantry.resolver.flight import Flight

if TYPE_CHECKING:
    from tenantry.groups import Token, UserGroup
    from tenantry.ports import Backend, Clock, MonotonicClock
    from tenantry.tokens import KeyRing

logger = logging.getLogger(__name__)


class Resolver:
    """Resolves user group tokens through a backend.

    ``environment``: None accepts every environment of the backend, a name only that one. ``lifetime`` (seconds) is how
    long an answer is used before the backend is asked again; ``capacity`` bounds the tokens kept, ``unknown_capacity``
    the refusals, which are kept apart. A load that takes longer than ``patience`` seconds is a StoreUnavailable.
    ``clock`` gives monotonic seconds, ``calendar`` the time of day that a token's grace is measured by.

    A backend with ``subscribe`` (ports.ObservableBackend) is subscribed to, so that a write made in this process is
    forgotten before the writer returns.

    Threads and loops: one resolver may serve several event loops, one after another or each in its own thread. Loads
    are shared within a loop; the cache is shared by all; ``changing`` and ``changed`` may be called from any thread.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        keys: KeyRing,
        environment: str | None = None,
        lifetime: float = 1.0,
        capacity: int = 100_000,
        unknown_capacity: int = 1_024,
        patience: float = 5.0,
        clock: MonotonicClock = time.monotonic,
        calendar: Clock = lambda: datetime.now(UTC),
    ) -> None:
        if lifetime <= 0 or patience <= 0:
            raise ValueError("lifetime and patience are seconds above 0")
        self.counters = Counters()
        self._backend = backend
        self._keys = keys
        self._environment = environment
        self._lifetime = lifetime
        self._patience = patience
        self._clock = clock
        self._calendar = calendar
        self._cache = GroupCache(capacity, unknown_capacity=unknown_capacity)
        self._entries = self._cache.entries
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights: dict[tuple[asyncio.AbstractEventLoop, bytes], Flight] = {}
        subscribe = getattr(backend, "subscribe", None)
        if subscribe is not None:
            subscribe(self)

    def __repr__(self) -> str:
        return f"<Resolver of {type(self._backend).__name__}, {len(self._entries)} tokens cached>"

    @property
    def environment(self) -> str | None:
        """The one environment whose groups are found; None: every one of the backend."""
        return self._environment

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group of a token that was resolved a moment ago, else None. No I/O; never raises."""
        entry = self._entries.get(raw)
        if entry is None or self._clock() >= entry.deadline:
            return None
        entry.seen = True
        self.counters.hits += 1
        return entry.group

    async def resolve(self, raw: bytes | str) -> UserGroup:
        """The group of this token.

        Raises InvalidToken (malformed, forged, rotated away, of a deleted group or of another environment: callers
        cannot tell which) and StoreUnavailable.
        """
        key = _canonical(raw)
        group = self.peek(key)
        if group is not None:
            return group
        self.counters.misses += 1
        token = self._read(key)
        self._refuse_at_once(key, token)
        loop = asyncio.get_running_loop()
        flight = self._flights.get((loop, key))
        if flight is None or flight.fill.void:
            flight = self._start(loop, key, token)
        else:
            self.counters.joined += 1
        return await flight.join()

    def changing(self, handle: bytes) -> None:
        """ports.ChangeListener: a write to this group begins. Nothing of it is cached until ``changed``."""
        self._cache.changing(handle)

    def changed(self, handle: bytes) -> None:
        """ports.ChangeListener: that write is over. Every later request asks the backend; loads under way are
        answered to those who wait for them already, and to nobody else."""
        self._cache.changed(handle)

    def forget(self) -> None:
        """Empties the cache."""
        self._cache.clear()

    async def aclose(self) -> None:
        """Ends the loads of this event loop; whoever waits for one gets StoreUnavailable. The backend is not closed."""
        loop = asyncio.get_running_loop()
        tasks = [flight.task for (home, _), flight in list(self._flights.items()) if home is loop]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cache.clear()

    # --- before the backend -------------------------------------------------------------------------------------------

    def _read(self, key: bytes) -> Token:
        try:
            return self._keys.read(key)
        except InvalidToken:
            self.counters.forged += 1
            raise

    def _refuse_at_once(self, key: bytes, token: Token) -> None:
        """A token that is known to be dead costs no read: refused a moment ago, or older than the cached group."""
        now = self._clock()
        if not self._cache.refused(key, token.handle, now):
            cached = self._cache.newest(token.handle, now)
            if cached is None or token.version >= cached.token_version or self._grace(cached, token) > 0:
                return
        self.counters.refused += 1
        _refuse()

    def _grace(self, group: UserGroup, token: Token) -> float:
        """Seconds for which ``token`` is good beside a newer one of ``group``; 0 or less if it is not."""
        if group.grace_until is None or token.version != group.token_version - 1:
            return 0.0
        return (group.grace_until - self._calendar()) / timedelta(seconds=1)

    # --- the backend --------------------------------------------------------------------------------------------------

    def _start(self, loop: asyncio.AbstractEventLoop, key: bytes, token: Token) -> Flight:
        if loop is not self._loop:
            self._loop = loop
            for place in [place for place in list(self._flights) if place[0].is_closed()]:
                self._flights.pop(place, None)  # its loop was closed under it, and can finish nothing
        flight = Flight(loop, self._cache.begin(token.handle))
        place = (loop, key)
        self._flights[place] = flight
        flight.task = loop.create_task(self._fly(flight, place, token), name="tenantry.resolve")
        return flight

    async def _fly(self, flight: Flight, place: tuple[asyncio.AbstractEventLoop, bytes], token: Token) -> None:
        try:
            flight.land(await self._load(flight.fill, place[1], token))
        except (InvalidToken, StoreUnavailable) as error:
            flight.crash(error)
        except asyncio.CancelledError:
            flight.crash(StoreUnavailable("the load of this user group was stopped"))
            raise
        except BaseException as error:  # goes to every waiter; what must stop the loop goes on to stop it
            flight.crash(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._cache.end(flight.fill)
            if self._flights.get(place) is flight:
                del self._flights[place]

    async def _load(self, fill: Fill, key: bytes, token: Token) -> UserGroup:
        started = self._clock()  # an answer is as old as its question
        group = await self._ask(token)
        lifetime = 0.0 if group is None else self._fitting(group, token)
        if group is None or lifetime <= 0:
            self._cache.refuse(fill, key, started + self._lifetime)
            _refuse()
        self._cache.store(fill, key, group, started + lifetime, self._clock())
        return group

    async def _ask(self, token: Token) -> UserGroup | None:
        self.counters.loads += 1
        try:
            async with asyncio.timeout(self._patience):
                group = await self._backend.find(token)
        except TenantryError as error:
            self.counters.failures += 1
            if error.public is not None:  # who asked is told less
                logger.warning("%s: %s", error.code, error.message)
            raise
        except Exception as error:
            self.counters.failures += 1
            logger.error("the backend failed: %s", _place_of(error))  # noqa: TRY400  # its text may hold a secret
            raise StoreUnavailable("user groups cannot be looked up just now") from error
        if group is None:
            self.counters.unknown += 1
        return group

    def _fitting(self, group: UserGroup, token: Token) -> float:
        """How long (seconds) this answer may be used for this token; 0 or less if it may not be used at all."""
        if group.handle != token.handle or group.environment.tag is not token.tag:
            self.counters.mismatched += 1
            logger.error("the backend %s answered with a group of another token", type(self._backend).__name__)
            return 0.0
        if self._environment is not None and group.environment.name != self._environment:
            self.counters.unknown += 1
            return 0.0
        if token.version == group.token_version:
            return self._lifetime
        return min(self._lifetime, self._grace(group, token))


def _refuse() -> NoReturn:
    """Raises the one InvalidToken that every dead token gets."""
    raise InvalidToken(InvalidToken.WORDS)


def _canonical(raw: bytes | str) -> bytes:
    if isinstance(raw, bytes):
        return raw
    return raw.encode("ascii") if raw.isascii() else b""  # b"" is no token: the key ring refuses it


def _place_of(error: Exception) -> str:
    """Type and place of an exception. Its message may hold a URL with a password or a query with values."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
