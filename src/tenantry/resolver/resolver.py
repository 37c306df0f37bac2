"""Resolver: the string that a request carries becomes a user group, with as little I/O as can be.

A hit is a dict look, one clock call and one look at a word that writers on this host change. A miss checks the
signature first, so a forgery costs no I/O, no memory and no task; then one task per token asks the backend, however
many wait.
"""

from __future__ import annotations

import asyncio
import logging
from math import inf, isinf
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

from tenantry.cache import ROW_BYTE, TABLE_BYTE, GroupCache
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.resolver.asking import Asking
from tenantry.resolver.counters import Counters
from tenantry.resolver.flight import Flight
from tenantry.resolver.following import Following
from tenantry.resolver.poller import Poller
from tenantry.resolver.verdict import Verdict, judge, may_have_grace
from tenantry.slots.boot import boot_clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenantry.cache import Fill
    from tenantry.groups import Reading, Token, UserGroup
    from tenantry.ports import Backend, Bus, LeasedBackend, MonotonicClock
    from tenantry.tokens import KeyRing

logger = logging.getLogger(__name__)

REFUSAL_SECONDS = 1.0
"""For how long, at most, a token without a group is refused without asking again."""


class Resolver:
    """Resolves user group tokens through a backend.

    ``environment``: None accepts every environment of the backend, a name only that one.

    ``staleness`` (X, seconds): no answer that is older is used. With a backend whose changes can be followed
    (ports.LeasedBackend) answers are cached while the store has told of its changes less than X ago, a write on this
    host is seen when it returns, and a write elsewhere X / 5 later, or never later than X with the store out of reach.
    Of a backend that has only ``find`` an answer is used for X.

    ``capacity`` bounds the tokens kept, ``unknown_capacity`` the refusals, which are kept apart. A load that takes
    longer than ``patience`` seconds (at most X) is a StoreUnavailable. ``buses`` tell of writes sooner than the next
    poll. ``clock`` gives seconds that go on while the machine sleeps.

    Threads and loops: one resolver may serve several event loops, one after another or each in its own thread. Loads
    are shared within a loop; cache and polls are shared by all; ``evict`` and ``flush`` may be called from any thread.
    """

    def __init__(
        self,
        backend: Backend | LeasedBackend,
        *,
        keys: KeyRing,
        environment: str | None = None,
        staleness: float = 5.0,
        capacity: int = 100_000,
        unknown_capacity: int = 1_024,
        patience: float = 1.8,
        buses: Sequence[Bus] = (),
        clock: MonotonicClock = boot_clock,
    ) -> None:
        if not 0 < staleness < inf or not 0 < patience < inf:
            raise ValueError("staleness and patience are seconds above 0")
        self.counters = Counters()
        self._keys = keys
        self._environment = environment
        self._staleness = staleness
        self._patience = min(patience, staleness)
        self._clock = clock
        leased = _leased(backend)
        self._cache = GroupCache(capacity, unknown_capacity=unknown_capacity, followed=leased is not None)
        self._index = self._cache.index
        self._asking = Asking(backend, self.counters)
        self._following = Following(buses, self)
        self._poller = None if leased is None else Poller(
            leased, self._cache, self.counters, self._following,
            staleness=staleness, patience=self._patience, clock=clock,
        )  # fmt: skip
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights: dict[tuple[asyncio.AbstractEventLoop, bytes], Flight] = {}

    def __repr__(self) -> str:
        return f"<Resolver of {self._asking.name}, {len(self._cache)} tokens cached>"

    @property
    def environment(self) -> str | None:
        """The one environment whose groups are found; None: every one of the backend."""
        return self._environment

    @property
    def staleness(self) -> float:
        """X: the age (seconds) that no answer exceeds."""
        return self._staleness

    @property
    def cached(self) -> int:
        """How many tokens take up room in the cache."""
        return len(self._cache)

    @property
    def lease_age(self) -> float | None:
        """Seconds since the last poll that the store answered was begun; None without a lease, when nothing is answered
        from the cache."""
        now, until = self._clock(), self._cache.lease.until
        return None if now >= until or isinf(until) else now - (until - self._staleness)

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group of a token that was resolved before, if that may be used now, else None. No I/O; never raises."""
        try:
            entry = self._index[raw[ROW_BYTE]][raw[TABLE_BYTE]][raw]
        except LookupError:  # not here, or too short for a token, or not ASCII
            return None
        lease = entry.lease
        now = self._clock()
        if now >= lease.until or now >= entry.deadline or lease.words[entry.place] != entry.word:
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
        ahead = self._compare(key, token)
        loop = asyncio.get_running_loop()
        self._wake(loop)
        flight = self._flights.get((loop, key))
        if flight is None or not (flight.fill is None or self._cache.stands(flight.fill, self._clock())):
            flight = self._start(loop, key, token, ahead=ahead)
        else:
            self.counters.joined += 1
        return await flight.join()

    def evict(self, handle: bytes, generation: int) -> None:
        """ports.EvictionListener: this group was written to. Whoever asks from now on is answered by the backend."""
        self.counters.evicted += self._cache.evict(handle, generation, self._clock())

    def flush(self) -> None:
        """ports.EvictionListener: messages may have been lost. Empties the cache."""
        self._cache.flush()
        self.counters.flushed = self._cache.flushes

    def forget(self) -> None:
        """Empties the cache."""
        self.flush()

    async def aclose(self) -> None:
        """Ends the loads of this event loop, polls and buses; whoever waits for a load gets StoreUnavailable. The
        backend is not closed, and the resolver can be used again."""
        loop = asyncio.get_running_loop()
        tasks = [flight.task for (home, _), flight in list(self._flights.items()) if home is loop]
        for task in tasks:
            task.cancel()
        ending = self._following.stop() if self._poller is None else self._poller.stop()
        tasks += [task for task in ending if task.get_loop() is loop]
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cache.flush()

    # --- before the backend -------------------------------------------------------------------------------------------

    def _read(self, key: bytes) -> Token:
        try:
            return self._keys.read(key)
        except InvalidToken:
            self.counters.forged += 1
            raise

    def _compare(self, key: bytes, token: Token) -> bool:
        """Refuses a token that is known to be dead: refused a moment ago, or older than the cached group and beyond its
        grace. True for one that is newer: a rotation elsewhere, of which only the store of record is sure to know."""
        now = self._clock()
        cached = self._cache.newest(token.handle, now)
        behind = cached is not None and token.version < cached.token_version and not may_have_grace(cached, token)
        if behind or self._cache.refused(key, token.handle, now):
            self.counters.refused += 1
            _refuse()
        return cached is not None and token.version > cached.token_version

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._poller is not None:
            self._poller.wake(loop)
        else:
            self._following.start(loop)

    # --- the backend --------------------------------------------------------------------------------------------------

    def _start(self, loop: asyncio.AbstractEventLoop, key: bytes, token: Token, *, ahead: bool) -> Flight:
        if loop is not self._loop:
            self._loop = loop
            for place in [place for place in list(self._flights) if place[0].is_closed()]:
                self._flights.pop(place, None)  # its loop was closed under it, and can finish nothing
        flight = Flight(loop)
        place = (loop, key)
        self._flights[place] = flight
        flight.task = loop.create_task(self._fly(flight, place, token, ahead=ahead), name="tenantry.resolve")
        return flight

    async def _fly(
        self, flight: Flight, place: tuple[asyncio.AbstractEventLoop, bytes], token: Token, *, ahead: bool
    ) -> None:
        try:
            async with asyncio.timeout(self._patience):
                group = await self._load(flight, place[1], token, ahead=ahead)
            flight.land(group)
        except (InvalidToken, StoreUnavailable) as error:
            flight.crash(error)
        except TimeoutError as error:
            late = StoreUnavailable("the user group could not be looked up in time")
            late.__cause__ = error
            flight.crash(late)
        except asyncio.CancelledError:
            flight.crash(StoreUnavailable("the load of this user group was stopped"))
            raise
        except BaseException as error:  # goes to every waiter; what must stop the loop goes on to stop it
            flight.crash(error)
            if not isinstance(error, Exception):
                raise
        finally:
            if flight.fill is not None:
                self._cache.end(flight.fill)
            if self._flights.get(place) is flight:
                del self._flights[place]

    async def _load(self, flight: Flight, key: bytes, token: Token, *, ahead: bool) -> UserGroup:
        """One read, or two: an answer that is older than what is known is asked for again, of the store of record."""
        if self._poller is not None:
            await self._poller.warm()
        read = await self._look(flight, token, fresh=ahead)
        if self._is_old(token, read):
            self.counters.stale += 1
            read = await self._look(flight, token, fresh=True)
        return self._settle(key, token, read)

    async def _look(self, flight: Flight, token: Token, *, fresh: bool) -> _Read:
        if flight.fill is not None:
            self._cache.end(flight.fill)
        started = self._clock()
        flight.fill = fill = self._cache.begin(token.handle, started)
        fresh = fresh or self._cache.unsure(fill, started)
        return _Read(fill, started, fresh, await self._asking.look(token, fresh=fresh))

    def _is_old(self, token: Token, read: _Read) -> bool:
        if self._poller is None:
            return False
        now, group = self._clock(), read.reading.group
        if not read.fresh and (group is None or not self._cache.believes(token.handle, read.reading.generation, now)):
            return True
        known = self._cache.newest(token.handle, now)
        return group is not None and known is not None and group.revision < known.revision

    def _settle(self, key: bytes, token: Token, read: _Read) -> UserGroup:
        reading, now = read.reading, self._clock()
        group, verdict = reading.group, judge(reading, token, self._environment)
        if group is None or verdict in {Verdict.DEAD, Verdict.WRONG}:
            self._blame(verdict)
            deadline = read.started + min(self._staleness, REFUSAL_SECONDS)
            self._cache.refuse(read.fill, key, reading.generation, deadline, now)
            _refuse()
        if verdict is Verdict.GOOD:
            self._cache.store(read.fill, key, group, reading.generation, self._deadline(read), now)
        return group

    def _deadline(self, read: _Read) -> float:
        """Its own end of an answer that is good; ``inf`` itself where it has none, of which a million share one."""
        seconds = inf if read.reading.seconds is None else read.reading.seconds
        if self._poller is None:
            seconds = min(seconds, self._staleness)
        return inf if seconds == inf else read.started + seconds

    def _blame(self, verdict: Verdict) -> None:
        if verdict is Verdict.DEAD:
            self.counters.unknown += 1
        else:
            self.counters.mismatched += 1
            logger.error("the backend %s answered with a group of another token", self._asking.name)


class _Read(NamedTuple):
    """An answer, the time of its question, as old as which it is, the fill that was begun for it, and whether only the
    store of record was asked."""

    fill: Fill
    started: float
    fresh: bool
    reading: Reading


def _refuse() -> NoReturn:
    """Raises the one InvalidToken that every dead token gets."""
    raise InvalidToken(InvalidToken.WORDS)


def _leased(backend: Backend | LeasedBackend) -> LeasedBackend | None:
    return cast("LeasedBackend", backend) if hasattr(backend, "changes") else None


def _canonical(raw: bytes | str) -> bytes:
    if isinstance(raw, bytes):
        return raw
    return raw.encode("ascii") if raw.isascii() else b""  # b"" is no token: the key ring refuses it
