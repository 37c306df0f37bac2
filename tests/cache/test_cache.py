"""GroupCache: bounded, exact about writes, and never a sweep."""

from __future__ import annotations

import sys
import threading
from base64 import urlsafe_b64encode
from math import inf
from random import Random

import pytest

from tenantry.cache import CacheEntry, GroupCache
from tenantry.cache.entries import (
    CONSTANT_VERSIONS,
    MAX_CHANCES,
    NEGATIVE_PER_HANDLE,
    CachedSource,
    ClockRing,
    Lease,
    PendingLoad,
    Sources,
)
from tenantry.groups import SOURCES_HANDLE, RegisteredSource, UserGroup
from tenantry.testing import make_environment, make_group


def key(name: object) -> bytes:
    """Makes a token that is long enough for a cache; the byte that chooses its table differs."""
    text = str(name).encode()
    return b"ugtc_k1_----" + bytes([sum(text) % 64]) + text


def put(cache: GroupCache, name: object, group: UserGroup, deadline: float = 10.0, now: float = 0.0) -> bool:
    pending = cache.begin(group.handle, now)
    try:
        return cache.store(pending, key(name), group, None, deadline, now)
    finally:
        cache.end(pending)


def refuse(cache: GroupCache, name: object, handle: bytes, deadline: float = 10.0) -> None:
    pending = cache.begin(handle, 0.0)
    cache.refuse(pending, key(name), None, deadline, 0.0)
    cache.end(pending)


def numbered(number: int, **fields: object) -> UserGroup:
    return make_group(handle=number.to_bytes(8, "little"), **fields)


def keys(cache: GroupCache) -> set[bytes]:
    return {key for table in cache.index for key in table}


def round_of(ring: ClockRing) -> list[CacheEntry]:
    """Follows the hand once around the ring; each entry knows the one before it."""
    found = [entry for _ in range(len(ring)) if (entry := ring.advance()) is not None]
    assert all(after.previous is before for before, after in zip(found, [*found[1:], *found[:1]], strict=True))
    return found


def plain(capacity: int, **options: int) -> GroupCache:
    """A cache for a backend without generations: an answer lives until its deadline."""
    return GroupCache(capacity, followed=False, **options)


def keeps_its_books(cache: GroupCache) -> bool:
    entries = {id(entry) for table in cache.index for entry in table.values()}
    in_ring = round_of(cache._ring)
    by_handle = [entry for family in cache._by_handle for handle in family for entry in cache._entries_of(handle)]
    return {id(entry) for entry in in_ring} == entries == {id(entry) for entry in by_handle} and len(in_ring) == len(
        by_handle
    ) == len(cache)


def test_never_more_than_its_capacity() -> None:
    """10,000 tokens through a cache of 100 leave 100, and every inner table is as small."""
    cache = plain(100)
    for number in range(10_000):
        put(cache, number, numbered(number))
        assert len(cache) <= 100
    assert len(keys(cache)) == len(cache) == 100
    assert cache._pending == {}
    assert keeps_its_books(cache)


def test_an_insert_evicts_one() -> None:
    """With every entry used and a few expired, an insert evicts one. Red when _make_capacity goes on after a drop."""
    cache = plain(200)
    for number in range(200):
        put(cache, number, numbered(number), deadline=5.0 if number % 3 else 10.0)
    for number in range(200, 500):
        for entry in round_of(cache._ring):
            entry.seen = True
        before = keys(cache)
        put(cache, number, numbered(number), deadline=20.0, now=6.0)
        assert len(before - keys(cache)) == 1


def test_no_table_is_large() -> None:
    """To grow a table moves all that is in it, with the event loop waiting: a token's table holds a 64th of all tokens,
    and a handle's table holds as little. Red when TABLE_BYTE is that of a constant character (8), or when all handles
    are in one table."""
    cache, random = plain(20_000), Random(7)
    for _ in range(20_000):
        handle = random.randbytes(8)
        raw = b"ugtc_k1_" + urlsafe_b64encode(b"\1" + handle + random.randbytes(57))
        pending = cache.begin(handle, 0.0)
        assert cache.store(pending, raw, make_group(handle=handle), None, 10.0, 0.0)
        cache.end(pending)
    assert max(map(len, (*cache.index, *cache._by_handle))) < 2 * 20_000 / 64
    assert keeps_its_books(cache)


def test_an_entry_that_went_is_freed_at_once() -> None:
    """A ring is a circle of references, which would wait for Python's garbage collector. Red when ``remove`` leaves the
    references of an entry to its neighbours: the last one refers to itself."""
    cache = plain(10)
    put(cache, "only", numbered(1))
    entry = cache.entry(key("only"))
    assert entry is not None
    group = entry.group
    del entry
    held = sys.getrefcount(group)
    cache.evict(group.handle, 5, 0.0)
    assert sys.getrefcount(group) < held


def test_a_used_entry_outlives_unused_ones() -> None:
    """CLOCK: a token that is used between inserts stays while others go. Red when _make_capacity ignores ``seen``."""
    cache = plain(MAX_CHANCES)
    put(cache, "used", numbered(1))
    for number in range(2, 200):
        entry = cache.entry(key("used"))
        assert entry is not None
        entry.seen = True
        put(cache, number, numbered(number))
    assert cache.entry(key("used")) is not None


def test_every_unused_entry_goes_in_its_turn() -> None:
    """As many inserts as a full cache has entries replace them all. Red when an insert moves the hand over an entry
    that it does not judge: of an even number of entries half would stay for good."""
    for capacity in (1, 2, 7, 8):
        cache = plain(capacity)
        for number in range(3 * capacity):
            put(cache, number, numbered(number))
            if number + 1 >= 2 * capacity:
                assert keys(cache) == {key(kept) for kept in range(number + 1 - capacity, number + 1)}


def test_an_insert_into_a_free_place_takes_no_use_away() -> None:
    """Only a full cache asks which entries were used. Red when each insert clears the mark of the entries it visits."""
    cache = plain(3)
    put(cache, "used", numbered(1))
    used = cache.entry(key("used"))
    assert used is not None
    used.seen = True
    for number in (2, 3):
        put(cache, number, numbered(number))
        assert used.seen


def test_dead_entries_make_capacity_before_the_cache_is_full() -> None:
    """A cache of which most expired, or were forgotten, shrinks as it is used, one entry looked at per insert."""
    cache = plain(1_000)
    for number in range(500):
        put(cache, number, numbered(number), deadline=1.0)
    for _ in range(600):
        put(cache, "live", numbered(9_999), deadline=10.0, now=2.0)
    assert keys(cache) == {key("live")}
    cache.flush()
    for _ in range(600):
        put(cache, "other", numbered(9_998))
    assert keys(cache) == {key("other")}


def test_an_eviction_drops_every_token_of_the_group_and_no_other() -> None:
    """It forgets the live token and the one in grace, and leaves the neighbours."""
    cache = plain(10)
    acme = numbered(1, token_version=2)
    put(cache, "new", acme)
    put(cache, "old", acme)
    put(cache, "other", numbered(2))
    assert cache.evict(acme.handle, 5, 0.0)
    assert not cache.evict(acme.handle, 5, 0.0)
    assert keys(cache) == {key("other")}
    assert cache.newest(acme.handle, 0.0) is None


@pytest.mark.parametrize("event", ["evict", "flush"])
def test_a_load_that_an_eviction_overtook_is_neither_stored_nor_shared(event: str) -> None:
    """A load begun before it is void. Red when _can_store ignores min_generation, or the lease of the load."""
    cache = plain(10)
    acme = numbered(1)
    pending = cache.begin(acme.handle, 0.0)
    assert cache.can_join(pending, 0.0)
    if event == "evict":
        cache.evict(acme.handle, 5, 0.0)
    else:
        cache.flush()
    assert not cache.can_join(pending, 0.0)
    assert not cache.store(pending, key("t"), acme, None, 10.0, 0.0)
    assert not cache.refuse(pending, key("u"), None, 10.0, 0.0)
    assert len(cache) == 0
    assert not cache.refused(key("u"), acme.handle, 0.0)


def test_an_older_state_never_replaces_a_newer_one() -> None:
    """Of two loads that cross, the one with the higher revision stays; its own older siblings go."""
    cache = plain(10)
    old, new = numbered(1, revision=4, token_version=1), numbered(1, revision=5, token_version=2)
    put(cache, "v1", old)
    assert put(cache, "v2", new)
    assert keys(cache) == {key("v2")}
    assert not put(cache, "v1", old)
    assert cache.newest(new.handle, 9.0) is new
    assert cache.newest(new.handle, 10.0) is None
    assert put(cache, "v1", old, deadline=30.0, now=20.0)  # the newer one expired: nothing is known any more


def test_refusals_are_bounded_apart_and_forgotten_by_an_eviction() -> None:
    """A flood of unknown tokens evicts no group; a write to the handle forgets its refusals."""
    cache = plain(10, unknown_capacity=5)
    for number in range(10):
        put(cache, number, numbered(number))
    for number in range(1_000):
        refuse(cache, f"u{number}", number.to_bytes(8, "little"))
        refuse(cache, f"u{number}", b"onehandl")
    assert len(cache) == 10
    assert len(cache._negative) <= 5
    assert sum(len(known) for known in cache._negative._handles.values()) <= 5 * NEGATIVE_PER_HANDLE
    assert cache.refused(key("u999"), b"onehandl", 9.0)
    assert not cache.refused(key("u999"), b"onehandl", 10.0)
    cache.evict(b"onehandl", 5, 0.0)
    assert not cache.refused(key("u999"), b"onehandl", 0.0)


def test_a_flush_forgets_at_once_and_walks_nothing() -> None:
    """After flush() nothing can be used, though it takes its capacity until the hand comes by; the cache works on."""
    cache = plain(3)
    acme = numbered(1)
    put(cache, "t", acme)
    refuse(cache, "u", acme.handle)
    cache.flush()
    entry = cache.entry(key("t"))
    assert entry is not None
    assert not entry.is_valid(0.0)
    assert cache.newest(acme.handle, 0.0) is None
    assert not cache.refused(key("u"), acme.handle, 0.0)
    assert cache.flushes == 1
    assert all(put(cache, number, numbered(number)) for number in range(9))
    assert len(cache) == 3
    assert cache.lease.until == inf


def test_threads_may_evict_while_loops_fill() -> None:
    """Four threads at once leave the tables consistent, and nothing of the written group behind."""
    cache = plain(50)

    def fill(offset: int) -> None:
        for number in range(2_000):
            put(cache, (number + offset) % 80, numbered((number + offset) % 80))

    def write() -> None:
        for number in range(2_000):
            cache.evict((number % 80).to_bytes(8, "little"), 5, 0.0)

    threads = [threading.Thread(target=fill, args=(offset,)) for offset in (0, 20, 40)]
    threads.append(threading.Thread(target=write))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) <= 50
    assert keeps_its_books(cache)
    for number in range(80):
        cache.evict(number.to_bytes(8, "little"), 5, 0.0)
    assert len(cache) == 0


@pytest.mark.parametrize("capacities", [(0, 1), (1, 0)])
def test_a_cache_that_holds_nothing_is_a_mistake(capacities: tuple[int, int]) -> None:
    """Capacities are at least 1."""
    with pytest.raises(ValueError, match="at least 1"):
        GroupCache(capacities[0], unknown_capacity=capacities[1])


def _cached_source(generation: int) -> CachedSource:
    pending = PendingLoad(SOURCES_HANDLE, Lease(CONSTANT_VERSIONS, inf), 0)
    return CachedSource(pending, generation, RegisteredSource("ds_1", "own", make_environment(), "sqlite:///a.db"))


def test_a_write_to_a_data_source_drops_what_is_older() -> None:
    """And nothing else, whatever came before. Red when the oldest generation is not looked for anew."""
    sources = Sources(10)
    for generation in (5, 7, 7, 9):
        sources.put((1, str(len(sources.entries))), _cached_source(generation))
    left = []
    for generation in (3, 5, 6, 7, 8):
        sources.drop_older(generation, 0.0)
        left.append([entry.generation for entry in sources.entries.values()])
    assert left == [[5, 7, 7, 9], [5, 7, 7, 9], [7, 7, 9], [7, 7, 9], [9]]
    sources.put((1, "late"), _cached_source(4))
    assert sources.drop_older(5, 0.0)
    assert len(sources.entries) == 1
    assert sources.drop_older(10, 0.0)
    assert not sources.drop_older(11, 0.0)


def test_many_writes_to_data_sources_do_not_each_go_through_all_of_them() -> None:
    """A list of changes may have thousands. Red when each looks at every registration: 10,000 times 4,096."""

    class Counted(dict[tuple[int, str], CachedSource]):
        passes = 0

        def items(self):  # type: ignore[no-untyped-def]
            self.passes += 1
            return super().items()

    sources = Sources(10)
    sources.entries = counted = Counted()
    sources.put((1, "old"), _cached_source(5))
    sources.put((1, "new"), _cached_source(1_000))
    assert sources.drop_older(6, 0.0)
    for generation in range(7, 1_000):
        assert not sources.drop_older(generation, 0.0)
    assert counted.passes == 1
