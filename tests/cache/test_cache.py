"""GroupCache: bounded, exact about writes, and never a sweep."""

from __future__ import annotations

import threading

import pytest

from tenantry.cache import CHANCES, GroupCache
from tenantry.groups import UserGroup
from tenantry.testing import make_group


def put(cache: GroupCache, key: bytes, group: UserGroup, deadline: float = 10.0, now: float = 0.0) -> bool:
    fill = cache.begin(group.handle)
    try:
        return cache.store(fill, key, group, deadline, now)
    finally:
        cache.end(fill)


def refuse(cache: GroupCache, key: bytes, handle: bytes, deadline: float = 10.0) -> None:
    fill = cache.begin(handle)
    cache.refuse(fill, key, deadline)
    cache.end(fill)


def numbered(number: int, **fields: object) -> UserGroup:
    return make_group(handle=number.to_bytes(8, "big"), **fields)


def test_never_more_than_its_capacity() -> None:
    """10,000 tokens through a cache of 100 leave 100, and every inner table is as small."""
    cache = GroupCache(100)
    for number in range(10_000):
        put(cache, b"t%d" % number, numbered(number))
        assert len(cache) <= 100
    assert len(cache._slots) == 100
    assert len(cache._by_handle) == len(cache) == 100
    assert cache._fills == {}


def test_an_insert_looks_at_few_slots_and_evicts_at_most_two() -> None:
    """With every entry used and a few expired, an insert takes away two at the most. Red when _reap loops."""
    cache = GroupCache(200)
    for number in range(200):
        put(cache, b"t%d" % number, numbered(number), deadline=5.0 if number % 3 else 10.0)
    for number in range(200, 500):
        for entry in cache.entries.values():
            entry.seen = True
        before = set(cache.entries)
        put(cache, b"t%d" % number, numbered(number), deadline=20.0, now=6.0)
        assert len(before - set(cache.entries)) <= 2


def test_a_used_entry_outlives_unused_ones() -> None:
    """CLOCK: a token that is used between inserts stays while others go. Red when _evict ignores ``seen``."""
    cache = GroupCache(CHANCES)
    put(cache, b"used", numbered(1))
    for number in range(2, 200):
        cache.entries[b"used"].seen = True
        put(cache, b"t%d" % number, numbered(number))
    assert b"used" in cache.entries


def test_expired_entries_make_room_before_the_cache_is_full() -> None:
    """A cache of which most expired shrinks as it is used, one slot looked at per insert."""
    cache = GroupCache(1_000)
    for number in range(500):
        put(cache, b"t%d" % number, numbered(number), deadline=1.0)
    for _ in range(600):
        put(cache, b"live", numbered(9_999), deadline=10.0, now=2.0)
    assert set(cache.entries) == {b"live"}


def test_a_write_drops_every_token_of_the_group_and_no_other() -> None:
    """changed(handle) forgets the live token and the one in grace, and leaves the neighbours."""
    cache = GroupCache(10)
    acme = numbered(1, token_version=2)
    put(cache, b"new", acme)
    put(cache, b"old", acme)
    put(cache, b"other", numbered(2))
    cache.changed(acme.handle)
    assert set(cache.entries) == {b"other"}
    assert cache.newest(acme.handle, 0.0) is None


@pytest.mark.parametrize("event", ["changing", "changed"])
def test_a_load_that_a_write_overtook_is_not_stored(event: str) -> None:
    """A fill begun before a write begins or ends is void. Red when _is_stale returns False."""
    cache = GroupCache(10)
    acme = numbered(1)
    fill = cache.begin(acme.handle)
    getattr(cache, event)(acme.handle)
    assert fill.void
    assert not cache.store(fill, b"t", acme, 10.0, 0.0)
    cache.refuse(fill, b"u", 10.0)
    assert len(cache) == 0
    assert not cache.refused(b"u", acme.handle, 0.0)


def test_nothing_is_stored_while_a_write_is_under_way() -> None:
    """A load begun and ended between changing and changed may have read either side: it is shown and not kept.
    Red when changing() does not count its writers."""
    cache = GroupCache(10)
    acme = numbered(1)
    cache.changing(acme.handle)
    cache.changing(acme.handle)
    assert not put(cache, b"t", acme)
    cache.changed(acme.handle)
    assert not put(cache, b"t", acme)  # the other writer is still at it
    cache.changed(acme.handle)
    assert put(cache, b"t", acme)
    assert cache._writing == {}


def test_an_older_state_never_replaces_a_newer_one() -> None:
    """Of two loads that cross, the one with the higher revision stays; its own older siblings go."""
    cache = GroupCache(10)
    old, new = numbered(1, revision=4, token_version=1), numbered(1, revision=5, token_version=2)
    put(cache, b"v1", old)
    assert put(cache, b"v2", new)
    assert set(cache.entries) == {b"v2"}
    assert not put(cache, b"v1", old)
    assert put(cache, b"v1", old, deadline=30.0, now=20.0)  # the newer one expired: nothing is known any more


def test_refusals_are_bounded_apart_and_forgotten_by_a_write() -> None:
    """A flood of unknown tokens evicts no positive entry; a write to the handle forgets its refusals."""
    cache = GroupCache(10, unknown_capacity=5)
    for number in range(10):
        put(cache, b"t%d" % number, numbered(number))
    for number in range(1_000):
        refuse(cache, b"u%d" % number, number.to_bytes(8, "big"))
        refuse(cache, b"u%d" % number, b"onehandl")
    assert len(cache) == 10
    assert len(cache._unknown) <= 5
    assert sum(len(refusals) for refusals in cache._unknown.values()) <= 5 * 8
    assert cache.refused(b"u999", b"onehandl", 9.0)
    assert not cache.refused(b"u999", b"onehandl", 10.0)
    cache.changed(b"onehandl")
    assert not cache.refused(b"u999", b"onehandl", 0.0)


def test_clear_forgets_and_voids() -> None:
    """After clear() nothing is left, a load under way is not stored, and the cache works on."""
    cache = GroupCache(3)
    acme = numbered(1)
    put(cache, b"t", acme)
    fill = cache.begin(acme.handle)
    cache.clear()
    assert not cache.store(fill, b"t", acme, 10.0, 0.0)
    assert len(cache) == 0
    assert all(put(cache, b"t%d" % number, numbered(number)) for number in range(9))
    assert len(cache) == 3


def test_threads_may_write_while_loops_fill() -> None:
    """Four threads at once leave the tables consistent, and nothing of the written group behind."""
    cache = GroupCache(50)

    def fill(offset: int) -> None:
        for number in range(2_000):
            put(cache, b"t%d" % ((number + offset) % 80), numbered((number + offset) % 80))

    def write() -> None:
        for number in range(2_000):
            handle = (number % 80).to_bytes(8, "big")
            cache.changing(handle)
            cache.changed(handle)

    threads = [threading.Thread(target=fill, args=(offset,)) for offset in (0, 20, 40)]
    threads.append(threading.Thread(target=write))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) + len(cache._free) == len(cache._slots) <= 50
    assert {entry.key for entries in cache._by_handle.values() for entry in entries} == set(cache.entries)
    for number in range(80):
        cache.changed(number.to_bytes(8, "big"))
    assert len(cache) == 0


@pytest.mark.parametrize("capacities", [(0, 1), (1, 0)])
def test_a_cache_that_holds_nothing_is_a_mistake(capacities: tuple[int, int]) -> None:
    """Capacities are at least 1."""
    with pytest.raises(ValueError, match="at least 1"):
        GroupCache(capacities[0], unknown_capacity=capacities[1])
