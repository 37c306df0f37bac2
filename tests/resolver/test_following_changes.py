"""The resolver of a backend whose changes can be followed: lease, polls, second-level readings."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tenantry.errors import StoreUnavailable
from tenantry.groups import Change, Changes, LookupResult, Token, UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import FrozenClock, make_group
from tests.resolver.fake import KEYS, PATIENT, FakeBackend, FakeSlots, token_of


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def resolver(backend: FakeBackend, clock: FrozenClock) -> Resolver:
    resolver = Resolver(backend, keys=KEYS, clock=clock.monotonic)
    resolver._patience = PATIENT  # it goes by the loop's time, and not by the clock
    return resolver


async def poll(resolver: Resolver) -> None:
    assert resolver._poller is not None
    await resolver._poller.poll()


def requires_origin(resolver: Resolver, group: UserGroup) -> bool:
    pending = resolver._cache.begin(group.handle, 0.0)
    resolver._cache.end(pending)
    return resolver._cache.requires_origin(pending, 0.0)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_first_request_polls_and_is_cached(resolver: Resolver, backend: FakeBackend) -> None:
    """A mounted app never sees lifespan: the first miss starts polling, and its own answer is kept. Ten at once are one
    poll and one read."""
    group, token = backend.issue()
    assert resolver.lease_age is None
    assert await asyncio.gather(*[resolver.resolve(token) for _ in range(10)]) == [group] * 10
    assert (backend.polls, backend.reads) == (1, 1)
    assert resolver.peek(token) is group
    assert resolver.lease_age == 0.0
    assert resolver.counters.polls == 1


async def test_a_wrapper_that_passes_on_what_it_does_not_have_is_followed(backend: FakeBackend) -> None:
    """By ``__getattr__``, on each version of Python: its answers need a lease, as those of what it wraps.

    Red from Python 3.12 on when isinstance decides, which does not look there: they would be used for the bound.
    """

    class Wrapper:
        def __getattr__(self, name: str) -> object:
            return getattr(backend, name)

        async def find(self, token: Token) -> UserGroup | None:
            return await backend.find(token)

    resolver = Resolver(Wrapper(), keys=KEYS)
    group, token = backend.issue()
    assert await resolver.resolve(token) is group
    assert backend.polls == 1
    backend.slots.after(group.handle)
    assert resolver.peek(token) is None
    await resolver.aclose()


async def test_a_poll_brings_what_was_written_elsewhere(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock
) -> None:
    """Until then the old group is shown, and how long that was is measured. Red when polls evict nothing."""
    old, token = backend.issue()
    other, another = backend.issue()
    await resolver.resolve(token)
    await resolver.resolve(another)
    new = make_group(handle=old.handle, revision=2)
    backend.write_elsewhere(new, age=0.7)
    assert resolver.peek(token) is old
    clock.advance(1.0)
    assert resolver.lease_age == 1.0
    await poll(resolver)
    assert resolver.lease_age == 0.0
    assert resolver.peek(token) is None
    assert resolver.peek(another) is other
    assert await resolver.resolve(token) is new
    assert (resolver.counters.evicted, resolver.counters.last_staleness, resolver.counters.max_staleness) == (
        1,
        0.7,
        0.7,
    )


async def test_a_dead_store_ends_the_cache_in_time_and_is_logged_once(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Polls fail: cached groups are shown until the staleness bound, then 503; and all is well again with the next
    poll. The log has one line for an outage, without what the driver said. Red when a failed poll renews the lease."""
    group, token = backend.issue()
    await resolver.resolve(token)
    backend.error = backend.poll_error = ConnectionError("postgresql://app:hunter2@db")
    for _ in range(4):
        await poll(resolver)
        clock.advance(1.0)
        assert resolver.peek(token) is group
    clock.advance(1.0)
    assert resolver.peek(token) is None
    assert resolver.lease_age is None
    with pytest.raises(StoreUnavailable):
        await resolver.resolve(token)
    logged = [record.message for record in caplog.records if "caching ends" in record.message]
    assert len(logged) == 1
    assert "hunter2" not in caplog.text
    assert resolver.counters.failed_polls >= 4
    backend.error = backend.poll_error = None
    await poll(resolver)
    assert resolver.peek(token) is group
    assert "again" in caplog.text


async def test_a_slow_poll_does_not_hold_up_requests(backend: FakeBackend) -> None:
    """A read that works is answered, and not kept while no poll has come in."""
    resolver = Resolver(backend, keys=KEYS, staleness=PATIENT, patience=PATIENT)
    group, token = backend.issue()
    backend.poll_gate = asyncio.Event()
    for reads in (1, 2):
        assert await asyncio.wait_for(resolver.resolve(token), 120) is group
        assert resolver.peek(token) is None
        assert (backend.reads, backend.polls) == (reads, 1)
    backend.poll_gate.set()
    await settle()
    await resolver.resolve(token)
    assert resolver.peek(token) is group
    await resolver.aclose()


async def test_a_second_level_reading_is_used_only_if_nothing_was_written_since(
    resolver: Resolver, backend: FakeBackend
) -> None:
    """The list of changes clears it, or the store of record is asked. Red when _is_outdated believes everything."""
    old, token = backend.issue()
    await resolver.resolve(token)
    resolver.flush()
    await poll(resolver)
    new = make_group(handle=old.handle, revision=2)
    backend.near[old.handle] = LookupResult(old, backend.generation)
    backend.write_elsewhere(new)
    assert await resolver.resolve(token) is old  # within the staleness bound, and as good as a cached group
    resolver.flush()
    await poll(resolver)
    assert await resolver.resolve(token) is new
    assert resolver.counters.stale == 1
    backend.near[new.handle] = LookupResult(new, backend.generation)
    resolver.flush()
    reads = backend.fresh_reads
    assert await resolver.resolve(token) is new
    assert backend.fresh_reads == reads


@pytest.mark.parametrize("doubt", ["no lease", "a write here", "no generation", "too long ago", "no group"])
async def test_in_doubt_the_store_of_record_is_asked(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock, doubt: str
) -> None:
    """Whatever a second-level cache would say. Red when ``fresh`` is False always, or _is_outdated is."""
    backend.since = 8
    old, token = backend.issue()
    await resolver.resolve(token)
    await poll(resolver)
    resolver.flush()
    near = {"no generation": None, "too long ago": 7}.get(doubt, backend.generation)
    backend.near[old.handle] = LookupResult(None if doubt == "no group" else old, near)
    new = make_group(handle=old.handle, revision=2)
    if doubt == "a write here":
        backend.write(new)
    else:
        backend.groups[old.handle] = new
    if doubt == "no lease":
        backend.poll_error = OSError("down")
        clock.advance(5.0)
    assert await resolver.resolve(token) is new


async def test_a_newer_token_is_asked_of_the_store_of_record(resolver: Resolver, backend: FakeBackend) -> None:
    """Rotated elsewhere a moment ago: the second-level cache has the old group, this worker too, and the new token is
    good. Red when _reject_outdated does not return that it is ahead, and _is_outdated believes that there is no
    group."""
    old, token = backend.issue()
    await resolver.resolve(token)
    await poll(resolver)
    backend.near[old.handle] = LookupResult(old, backend.generation)
    new = make_group(handle=old.handle, revision=2, token_version=2)
    backend.write_elsewhere(new)
    reads = backend.reads
    assert await resolver.resolve(token_of(new)) is new
    assert backend.reads == reads + 1


async def test_a_worker_does_not_go_back(resolver: Resolver, backend: FakeBackend) -> None:
    """A slow load of the old group comes in after the new one was shown: it is asked for again. Red when _is_outdated
    does not compare revisions."""
    old, token = backend.issue()
    await resolver.resolve(token)
    resolver.flush()
    backend.gate = slow = asyncio.Event()
    early = asyncio.create_task(resolver.resolve(token))
    await settle()
    backend.gate = None
    new = make_group(handle=old.handle, revision=2)
    backend.write_elsewhere(new)
    assert await resolver.resolve(token_of(new)) is new
    slow.set()
    assert await early is new


async def test_another_table_of_versions_starts_anew(resolver: Resolver, backend: FakeBackend) -> None:
    """The file was replaced: what was cached under the old one is not used, what is cached under the new one is. Red
    when the poller does not look at the object."""
    group, token = backend.issue()
    await resolver.resolve(token)
    backend.table = FakeSlots()
    await poll(resolver)
    assert resolver.peek(token) is None
    assert resolver._cache._versions_at_poll is None
    await resolver.resolve(token)
    assert resolver.peek(token) is group
    backend.table.before(group.handle)
    assert resolver.peek(token) is None


async def test_a_table_that_is_replaced_during_a_poll_is_not_compared_with_the_old_one(
    resolver: Resolver, backend: FakeBackend
) -> None:
    """Versions that were copied before are of another table: until the next poll only the store of record is asked. Red
    when the poller keeps the copy."""
    group, token = backend.issue()
    await resolver.resolve(token)
    await poll(resolver)
    assert not requires_origin(resolver, group)
    changes = backend.changes

    async def replacing(since: int | None, *, lease: float = 0.0) -> Changes:
        backend.table = FakeSlots()
        return await changes(since)

    backend.changes = replacing  # type: ignore[method-assign]
    await poll(resolver)
    assert requires_origin(resolver, group)
    backend.changes = changes  # type: ignore[method-assign]
    await poll(resolver)
    assert not requires_origin(resolver, group)


async def test_a_store_without_versions_gives_no_lease(backend: FakeBackend, caplog: pytest.LogCaptureFixture) -> None:
    """It is read each time, and the log says why."""
    resolver = Resolver(backend, keys=KEYS)
    backend.__class__ = type("WithoutSlots", (FakeBackend,), {"slots": None})
    group, token = backend.issue()
    for _ in range(2):
        assert await resolver.resolve(token) is group
    assert backend.reads == 2
    assert "`slots` must return an object" in caplog.text
    await resolver.aclose()


async def test_a_crashed_writer_is_repaired(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Its odd version keeps the group out of the cache, for the staleness bound and a poll. Red when polls do not
    repair."""
    group, token = backend.issue()
    backend.table.before(group.handle)
    await resolver.resolve(token)
    clock.advance(4.0)
    await poll(resolver)
    await resolver.resolve(token)
    assert resolver.peek(token) is None
    clock.advance(1.1)
    with caplog.at_level(logging.WARNING):
        await poll(resolver)
    assert len(backend.table.repaired) == 1
    await resolver.resolve(token)
    assert resolver.peek(token) is group


async def test_a_bus_evicts_and_flushes(resolver: Resolver, backend: FakeBackend) -> None:
    """ports.EvictionListener. What it names is read again at once, before any poll."""
    old, token = backend.issue()
    await resolver.resolve(token)
    backend.write_elsewhere(make_group(handle=old.handle, revision=2))
    resolver.evict(old.handle, backend.generation)
    assert resolver.peek(token) is None
    new = await resolver.resolve(token)
    assert new.revision == 2
    assert resolver.peek(token) is new
    resolver.flush()
    assert resolver.peek(token) is None
    assert (resolver.counters.evicted, resolver.counters.flushed) == (1, 1)


async def test_a_poll_of_ten_thousand_changes_lets_others_run(resolver: Resolver, backend: FakeBackend) -> None:
    """Between its steps the loop is free. Red when _ask does not sleep between them."""
    _, token = backend.issue()
    await resolver.resolve(token)
    backend.log = [Change(11 + number, number.to_bytes(8, "big")) for number in range(10_000)]
    backend.generation += 10_000
    polling = asyncio.create_task(poll(resolver))
    turns = 0
    while not polling.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns >= 400
    assert resolver._cache.change_log.known == 10_010


async def test_both_reads_of_a_request_share_one_deadline(
    resolver: Resolver, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two reads of 0.6 s are too long for a patience of 1 s. Red when each read has its own."""
    old, token = backend.issue()
    await resolver.resolve(token)
    await poll(resolver)
    resolver.flush()
    backend.near[old.handle] = LookupResult(None, backend.generation)
    read, asked = backend.read_at_snapshot, []

    async def slow(about: Token, *, fresh: bool) -> LookupResult:
        asked.append(fresh)
        await asyncio.sleep(0.6)
        return await read(about, fresh=fresh)

    monkeypatch.setattr(resolver, "_patience", 1.0)
    monkeypatch.setattr(resolver._reader.backend, "read_at_snapshot", slow)
    with pytest.raises(StoreUnavailable):
        await resolver.resolve(token)
    assert asked[0] is False


def test_patience_is_never_above_the_staleness(backend: FakeBackend) -> None:
    """Whoever joins a load late is answered by it: it must not be older than the bound. Red when patience is as
    given."""
    assert Resolver(backend, keys=KEYS, staleness=0.5, patience=60)._patience == 0.5
    assert Resolver(backend, keys=KEYS)._patience == 1.8
