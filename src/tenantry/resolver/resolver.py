from __future__ import annotations

import asyncio
import logging
from math import inf, isinf
from typing import TYPE_CHECKING

from tenantry.aio import LoopLocal
from tenantry.cache import TABLE_BYTE, GroupCache
from tenantry.clock import monotonic_with_suspend, utc_now
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.ports import is_leased, source_cache_holder_of
from tenantry.resolver.bus_subscriptions import BusSubscriptions
from tenantry.resolver.end_dates import EndDates
from tenantry.resolver.followed_keys import FollowedKeys
from tenantry.resolver.loading import BackendAnswer, BackendReader, Counters, Freshness, SingleFlight
from tenantry.resolver.poller import Poller
from tenantry.resolver.source_cache import SourceCache
from tenantry.tokens import is_like_a_pass
from tenantry.usage import NO_RECORDER, recorder_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenantry.groups import Token, UserGroup
    from tenantry.ports import Backend, Bus, Clock, LeasedBackend, MonotonicClock
    from tenantry.tokens import KeyRing

logger: logging.Logger = logging.getLogger(__name__)

REFUSAL_SECONDS = 1.0
"""How many seconds the cache remembers that a token has no group. If the staleness bound is shorter, it is used
instead."""


class Resolver:
    """Resolves user group tokens through a cache and a backend.
    - ``environment``: the only accepted environment; by default, all are accepted.
    - ``staleness``: how many seconds a cached answer may be used after the store last confirmed it.
    - ``capacity``: maximum number of cached tokens.
    - ``unknown_capacity``: maximum number of groups whose refused tokens are cached.
    - ``pass_capacity``: maximum number of cached passes.
    - ``patience``: how many seconds a load may take before it raises StoreUnavailable. At most ``staleness``.
    - ``buses``: report writes sooner than the next poll.
    - ``clock``: a clock in seconds that also runs while the machine is suspended.
    - ``time_of_day``: the clock for end dates.

    With a ``ports.LeasedBackend``, writes on this host take effect at once. Writes on other hosts take effect within
    about a fifth of the staleness bound, or within the full bound if the store is unavailable.

    Answers of a backend that is not a LeasedBackend are cached for at most ``staleness`` seconds. With any backend,
    tokens of a removed signing key are refused within ``staleness`` seconds.

    Event loops and threads may share a resolver."""

    def __init__(
        self,
        backend: Backend | LeasedBackend,
        *,
        keys: KeyRing,
        environment: str | None = None,
        staleness: float = 5.0,
        capacity: int = 100_000,
        unknown_capacity: int = 1_024,
        pass_capacity: int = 20_000,
        patience: float = 1.8,
        buses: Sequence[Bus] = (),
        clock: MonotonicClock = monotonic_with_suspend,
        time_of_day: Clock = utc_now,
    ) -> None:
        if not 0 < staleness < inf or not 0 < patience < inf:
            raise ValueError("staleness and patience must be finite numbers of seconds greater than 0")
        self.counters: Counters = Counters()
        self._environment = environment
        self._usage = recorder_of(backend) or NO_RECORDER
        self._staleness = staleness
        self._patience = min(patience, staleness)
        self._clock = clock
        self._time_of_day = time_of_day
        leased = backend if is_leased(backend) else None
        self._cache = GroupCache(
            capacity, unknown_capacity=unknown_capacity, pass_capacity=pass_capacity, followed=leased is not None
        )
        self._index = self._cache.index
        self._ends = EndDates(self._cache, self.counters, staleness, clock, time_of_day)
        self._keys = FollowedKeys(keys, self._cache, self.counters, cached_alone=leased is None)
        self._reader = BackendReader(backend, self.counters)
        self._subscriptions = BusSubscriptions(buses, self)
        self._poller = None if leased is None else Poller(
            leased, self._cache, self.counters, self._subscriptions, self._keys,
            staleness=staleness, patience=self._patience, clock=clock,
        )  # fmt: skip
        self._flights: LoopLocal[dict[bytes, SingleFlight[UserGroup]]] = LoopLocal(dict)
        self._sources = source_cache_holder_of(backend)
        self._source_cache = None
        if self._poller is not None and self._sources is not None:
            self._source_cache = SourceCache(self._cache, self._poller, clock, staleness)
        self._lend_source_cache()

    def __repr__(self) -> str:
        return f"<Resolver of {self._reader.name}, {len(self._cache)} tokens cached>"

    @property
    def environment(self) -> str | None:
        """The only accepted environment, or None if all are accepted."""
        return self._environment

    @property
    def staleness(self) -> float:
        """The staleness bound, in seconds."""
        return self._staleness

    @property
    def cached(self) -> int:
        """Number of cached tokens, valid or not."""
        return len(self._cache)

    @property
    def cached_passes(self) -> int:
        """Number of cached passes, valid or not."""
        return len(self._cache.passes)

    @property
    def lease_age(self) -> float | None:
        """Seconds since the start of the poll that last extended the lease. None without a lease."""
        now, until = self._clock(), self._cache.lease.until
        return None if now >= until or isinf(until) else now - (until - self._staleness)

    def seconds_left(self, group: UserGroup) -> float:
        """``UserGroup.seconds_left`` at the current time."""
        return self._ends.seconds_left(group)

    def peek(self, raw: bytes) -> UserGroup | None:
        """Return the group of a token or pass if it is cached and valid, otherwise None. Does no I/O and never
        raises."""
        try:
            entry = self._index[raw[TABLE_BYTE]][raw]
        except LookupError:  # not cached, or too short for a token
            return None
        now = self._clock()
        if not entry.is_valid(now) or now >= entry.check_end_at:
            return None
        entry.seen = True
        self.counters.hits += 1
        self._usage.count_hit(entry)
        return entry.group

    async def resolve(self, raw: bytes | str) -> UserGroup:
        """Return the group of a token or pass, from the cache or the backend. The group of a pass has a ``viewer``.

        Raises InvalidToken, without the reason, if the token is malformed, forged or replaced by a rotation, or if its
        group is deleted or in another environment. For other reasons, raises a subclass of InvalidToken:
        UserGroupExpired, UserGroupSuspended, PassExpired, PassRevoked or InvalidPass. Raises StoreUnavailable if
        loading fails or takes longer than ``patience``."""
        # A string that is not ASCII becomes b"", which is refused below.
        key = raw if isinstance(raw, bytes) else raw.encode("ascii") if raw.isascii() else b""
        group = self.peek(key)
        if group is not None:
            return group
        return await self._resolve_pass(key) if is_like_a_pass(key) else self._usage.counted(await self._find(key))

    async def _resolve_pass(self, key: bytes) -> UserGroup:
        try:
            found = self._keys.read_pass(key, self._time_of_day)
        except InvalidToken as error:
            self.counters.misses += 1
            self.counters.forged += type(error) is InvalidToken
            self.counters.refused += type(error) is not InvalidToken
            raise
        entry = self._ends.valid_entry(found.token)
        if entry is not None:
            of_group, group = entry.group, self._ends.use(entry, found.viewer)
        else:
            of_group = await self._find(found.token)
            group = of_group.with_viewer(found.viewer)
            self._ends.check(group, None)  # the pass may have ended during the read
        self._usage.counted(group)
        entry, now = self._cache.entry(found.token), self._clock()
        if entry is not None and entry.group is of_group:
            # Verify the pass again within the staleness bound, because someone may set the machine's clock.
            self._cache.passes.store(key, entry, group, now + min(self.seconds_left(group), self._staleness), now)
        return group

    async def _find(self, key: bytes) -> UserGroup:
        try:
            token = self._keys.read(key)
        except InvalidToken:
            self.counters.misses += 1
            self.counters.forged += 1
            raise
        entry = self._ends.valid_entry(key)
        if entry is not None:
            return self._ends.use(entry)
        self.counters.misses += 1
        ahead = self._reject_outdated(key, token)
        loop = asyncio.get_running_loop()
        if self._poller is not None:
            self._poller.ensure_running(loop)
        else:
            self._subscriptions.start(loop)
        self._lend_source_cache()  # again, because ``aclose`` takes it back
        flights = self._flights.get()
        flight = flights.get(key)
        if (
            flight is None
            or flight.task.done()
            or not (flight.pending is None or self._cache.can_join(flight.pending, self._clock()))
        ):
            flight = SingleFlight(loop)
            loading = self._load_task(flights, flight, key, token, ahead=ahead)
            flight.task = loop.create_task(loading, name="tenantry.resolve")
            flights[key] = flight
        else:
            self.counters.joined += 1
        return await flight.join()

    def evict(self, handle: bytes, generation: int) -> None:
        """Drop the group's cached answers that predate write number ``generation`` (``ports.EvictionListener``)."""
        self.counters.evicted += self._cache.evict(handle, generation, self._clock())

    def flush(self) -> None:
        """Clear the cache (``ports.EvictionListener``)."""
        self._cache.flush()
        self.counters.flushed = self._cache.flushes

    async def aclose(self) -> None:
        """Stop polling, the bus subscriptions, and the loads on this event loop. Requests that wait for a load get
        StoreUnavailable. Send the counted usage to the store. You can use the resolver again afterwards."""
        loop = asyncio.get_running_loop()
        loads = list(self._flights.get().values())
        # Remove the loads first: a task that is cancelled before its first step does not remove its load.
        await self._flights.aclose()
        for flight in loads:
            flight.task.cancel()
        ending = self._subscriptions.stop() if self._poller is None else self._poller.stop()
        tasks = [flight.task for flight in loads] + [task for task in ending if task.get_loop() is loop]
        await asyncio.gather(*tasks, return_exceptions=True)
        for flight in loads:
            flight.set_stopped()
        self._cache.flush()
        if self._sources is not None and self._sources.source_cache is self._source_cache:
            self._sources.source_cache = None
        await self.flush_usage()

    async def flush_usage(self) -> None:
        """Send the counted usage to the store. Never raises. If the store fails, the usage is sent later."""
        await self._usage.flush()

    def _lend_source_cache(self) -> None:
        # Of several resolvers of a store, the first lends its cache of data sources. After this resolver is closed,
        # each query reads its data source from the store, until another resolver loads a group and lends its cache.
        # This is slower, but no query uses an outdated source.
        if self._sources is not None and self._sources.source_cache is None:
            self._sources.source_cache = self._source_cache

    # --- before the backend -------------------------------------------------------------------------------------------

    def _reject_outdated(self, key: bytes, token: Token) -> bool:
        """Raise InvalidToken if the cache refuses the token or knows a newer one. Return whether the token is newer
        than the cached group."""
        now = self._clock()
        cached = self._cache.newest(token.handle, now)
        behind = cached is not None and token.version < cached.token_version and not cached.accepts(token.version)
        if behind or self._cache.refused(key, token.handle, now):
            self.counters.refused += 1
            raise InvalidToken(InvalidToken.MESSAGE)
        # If it is newer, second-level caches may not know the rotation yet.
        return cached is not None and token.version > cached.token_version

    # --- the backend --------------------------------------------------------------------------------------------------

    async def _load_task(
        self,
        flights: dict[bytes, SingleFlight[UserGroup]],
        flight: SingleFlight[UserGroup],
        key: bytes,
        token: Token,
        *,
        ahead: bool,
    ) -> None:
        with flight:
            try:
                async with asyncio.timeout(self._patience):
                    group = await self._load(flight, key, token, ahead=ahead)
            except TimeoutError as error:
                raise StoreUnavailable("looking up the user group took too long: try again") from error
            finally:
                if flight.pending is not None:
                    self._cache.end(flight.pending)
                if flights.get(key) is flight:
                    del flights[key]
            flight.set_result(group)

    async def _load(self, flight: SingleFlight[UserGroup], key: bytes, token: Token, *, ahead: bool) -> UserGroup:
        if self._poller is not None:
            await self._poller.wait_first_poll()
        answer = await self._read(flight, token, fresh=ahead)
        if self._is_outdated(token, answer):  # a write came during the read, or a second-level cache was behind
            self.counters.stale += 1
            answer = await self._read(flight, token, fresh=True)
        return self._store(key, token, answer)

    async def _read(self, flight: SingleFlight[UserGroup], token: Token, *, fresh: bool) -> BackendAnswer:
        if flight.pending is not None:
            self._cache.end(flight.pending)
        started = self._clock()
        flight.pending = pending = self._cache.begin(token.handle, started)
        fresh = fresh or self._cache.requires_origin(pending, started)
        return BackendAnswer(pending, started, fresh, await self._reader.read(token, fresh=fresh))

    def _is_outdated(self, token: Token, answer: BackendAnswer) -> bool:
        if self._poller is None:
            return False
        now, result = self._clock(), answer.result
        group = result.group
        if not answer.fresh and (group is None or not self._cache.may_use(token.handle, result.generation, now)):
            return True
        known = self._cache.newest(token.handle, now)
        return group is not None and known is not None and group.revision < known.revision

    def _store(self, key: bytes, token: Token, answer: BackendAnswer) -> UserGroup:
        result, now = answer.result, self._clock()
        group, freshness = result.group, Freshness.classify(result, token, self._environment)
        if group is None or freshness in {Freshness.NO_GROUP, Freshness.MISMATCHED}:
            if freshness is Freshness.MISMATCHED:
                self.counters.mismatched += 1
                logger.error("the backend %s returned the group of another token", self._reader.name)
            else:
                self.counters.unknown += 1
            deadline = answer.started + min(self._staleness, REFUSAL_SECONDS)
            self._cache.refuse(answer.pending, key, result.generation, deadline, now)
            raise InvalidToken(InvalidToken.MESSAGE)
        if freshness is Freshness.GOOD:
            seconds = inf if result.seconds is None else result.seconds
            if self._poller is None:
                seconds = min(seconds, self._staleness)
            # Without a deadline, all entries share the constant ``inf`` instead of a new float each.
            deadline = inf if seconds == inf else answer.started + seconds
            self._cache.store(answer.pending, key, group, result.generation, deadline, now)
        if group.may_end:
            # If another load has stored a later state of the group, the entry has another group object.
            entry = self._ends.valid_entry(key)
            self._ends.check(group, entry if entry is not None and entry.group is group else None)
        return group
