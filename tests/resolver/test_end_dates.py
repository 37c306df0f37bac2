"""Groups with an end date: refused from then on, by the resolver's own time of day, and without a read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from tenantry.errors import InvalidToken, UserGroupExpired
from tenantry.groups import Token, UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import FrozenClock
from tests.resolver.fake import KEYS, FakeBackend, FindBackend, token_of

DAY = 86_400.0


class Host:
    """A resolver of one host, whose time of day may be set apart from its seconds."""

    def __init__(self, backend: FindBackend) -> None:
        self.backend = backend
        self.seconds = FrozenClock()
        self.time_of_day = FrozenClock()
        self.resolver = Resolver(backend, keys=KEYS, clock=self.seconds.monotonic, time_of_day=self.time_of_day)

    def issue(self, left: float, **fields: object) -> tuple[UserGroup, bytes]:
        return self.backend.issue(expires_at=self.time_of_day() + timedelta(seconds=left), **fields)

    def advance(self, seconds: float) -> None:
        self.seconds.advance(seconds)
        self.time_of_day.advance(seconds)

    async def poll(self) -> None:
        assert self.resolver._poller is not None
        await self.resolver._poller.poll()

    async def outcome(self, token: bytes) -> object:
        try:
            return self.resolver.peek(token) or await self.resolver.resolve(token)
        except InvalidToken as error:
            return error.code


@pytest.fixture
def host() -> Host:
    return Host(FakeBackend())


async def test_a_cached_group_ends_at_its_date_without_a_read(host: Host) -> None:
    """To the millisecond, and again and again. Red when the deadline of the entry ignores the date (checked by leaving
    ``left`` out of it), and when a group that has ended is asked for anew."""
    group, token = host.issue(3)
    assert await host.outcome(token) is group
    host.advance(2.999)
    assert host.resolver.peek(token) is group
    host.advance(0.001)
    for _ in range(3):
        assert host.resolver.peek(token) is None
        with pytest.raises(UserGroupExpired):
            await host.resolver.resolve(token)
    counted = host.resolver.counters
    assert (host.backend.reads, counted.hits, counted.misses, counted.refused) == (1, 1, 4, 3)


async def test_hits_of_a_group_with_a_date_are_hits(host: Host) -> None:
    """Between two looks at the time of day it is answered by ``peek``; the look itself reads nothing."""
    group, token = host.issue(DAY)
    await host.outcome(token)
    for _ in range(20):
        await host.poll()
        host.advance(3)
        assert await host.outcome(token) is group
        assert host.resolver.peek(token) is group
    assert host.backend.reads == 1
    assert host.resolver.counters.misses == 1


@pytest.mark.parametrize("kind", [FakeBackend, FindBackend])
async def test_a_group_that_had_ended_before(kind: type[FindBackend]) -> None:
    """Is refused by the first answer; what a backend says of it is remembered as long as anything it says."""
    host = Host(kind())
    _, token = host.issue(0)
    for _ in range(3):
        assert await host.outcome(token) == "user_group_expired"
    assert host.backend.reads == 1


async def test_all_who_wait_for_the_answer_are_refused(host: Host) -> None:
    _, token = host.issue(-1)
    assert await asyncio.gather(*(host.outcome(token) for _ in range(5))) == ["user_group_expired"] * 5
    assert host.backend.reads == 1


async def test_a_later_date_lets_the_same_token_in_again(host: Host) -> None:
    """As any update does: at once on this host. And an earlier one puts it out. Red when a group that has ended stays
    in the cache whatever is written."""
    backend = host.backend
    assert isinstance(backend, FakeBackend)
    group, token = host.issue(-1)
    assert await host.outcome(token) == "user_group_expired"
    later = host.time_of_day() + timedelta(days=1)
    for revision, ends in ((2, later), (3, host.time_of_day()), (4, None)):
        changed = replace(group, revision=revision, expires_at=ends)
        backend.write(changed)
        expected = "user_group_expired" if revision == 3 else changed
        assert await host.outcome(token) == expected


async def test_a_clock_that_was_set_counts_within_the_bound(host: Host) -> None:
    """Of a worker whose clock was an hour late when the group was cached. Red when the date becomes a deadline once
    and for all, for then the group would live on for that hour."""
    group, token = host.issue(3600)
    assert await host.outcome(token) is group
    host.time_of_day.advance(3600)
    assert host.resolver.peek(token) is group  # until the next look
    await host.poll()
    host.seconds.advance(host.resolver.staleness)
    assert host.resolver.peek(token) is None
    await host.poll()
    assert await host.outcome(token) == "user_group_expired"
    host.time_of_day.advance(-1)
    assert await host.outcome(token) is group
    assert host.backend.reads == 1


async def test_without_a_lease_nothing_is_answered_from_the_cache(host: Host) -> None:
    """Neither that a group has ended nor that it goes on: the store may know better. Red when the lease of an entry
    with a date is not looked at."""
    _, token = host.issue(1)
    await host.outcome(token)
    host.advance(host.resolver.staleness)
    assert await host.outcome(token) == "user_group_expired"
    assert host.backend.reads == 2


async def test_the_token_before_ends_too(host: Host) -> None:
    """A rotation with a grace gives no access beyond the date. An answer with an end of its own ends by that."""
    backend = host.backend
    assert isinstance(backend, FakeBackend)
    group, new = host.issue(10, token_version=2, revision=2, grace_until=host.time_of_day() + timedelta(hours=1))
    old = token_of(group, version=1)
    backend.seconds = 2.0
    assert await host.outcome(old) is group
    host.advance(2)
    assert host.resolver.peek(old) is None
    backend.seconds = 8.0
    await host.poll()
    assert await host.outcome(old) is group
    host.advance(8)
    await host.poll()
    assert [await host.outcome(token) for token in (old, new)] == ["user_group_expired"] * 2


async def test_a_dead_token_of_an_ended_group_is_only_invalid(host: Host) -> None:
    """Nobody learns of a group's end by a token that is not its own."""
    group, token = host.issue(0, token_version=3, revision=3)
    await host.outcome(token)
    assert await host.outcome(token_of(group, version=1)) == "invalid_token"


async def test_a_cache_keeps_and_drops_it_as_any_other() -> None:
    """It is dead when its answer is, and not because the time of day has to be looked at: its place is then no sooner
    given to another. Red when ``is_valid`` compares ``check_end_at``."""
    backend = FakeBackend()
    host = Host(backend)
    host.resolver = Resolver(backend, keys=KEYS, clock=host.seconds.monotonic, time_of_day=host.time_of_day, capacity=8)
    kept = [host.issue(DAY) for _ in range(4)]
    for group, token in kept:
        assert await host.outcome(token) is group
    host.advance(4)
    await host.poll()
    host.advance(4)
    for _ in range(4):
        await host.outcome(backend.issue()[1])
    for group, token in kept:
        assert await host.outcome(token) is group
    assert (host.resolver.cached, backend.reads) == (8, 8)
    for _ in range(40):
        await host.outcome(backend.issue()[1])
    assert host.resolver.cached == 8


async def test_seconds_left(host: Host) -> None:
    """What watches of open connections go by."""
    ends, _ = host.issue(1.5)
    never, _ = host.backend.issue()
    assert (host.resolver.seconds_left(ends), host.resolver.seconds_left(never)) == (1.5, inf)


async def test_a_backend_without_a_cache_of_its_own_is_judged_as_well() -> None:
    """A third party's answer may have any date: the resolver compares it each time it is used."""
    host = Host(FindBackend())
    group, token = host.issue(7)
    assert await host.outcome(token) is group
    host.advance(6)  # the answer is older than the bound
    assert await host.outcome(token) is group
    host.advance(1)
    assert await host.outcome(token) == "user_group_expired"
    assert host.backend.reads == 2


def test_the_token_of_a_date_is_the_token(host: Host) -> None:
    """The date is no part of the token: it can be moved without a new one."""
    group, token = host.issue(1)
    read = KEYS.read(token)
    assert isinstance(read, Token)
    assert read.version == group.token_version
