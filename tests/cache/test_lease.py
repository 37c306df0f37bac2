"""GroupCache under a lease: what may be used, what may be kept, what a poll does to both."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tenantry.cache import SLOT_COUNT, GroupCache, slot_index
from tenantry.cache.change_log import MAX_HINTS
from tenantry.cache.entries import CachedAnswer, Lease, PendingLoad
from tenantry.cache.group_cache import APPLIED_AT_ONCE
from tenantry.groups import Change, Changes, UserGroup
from tenantry.testing import make_group
from tests.cache.test_cache import key, keys

STALENESS = 5.0
ACME = make_group(handle=b"\x01\x02acme--")
GLOBEX = make_group(handle=b"\x03\x04globex")
LIVE, DEAD = key("live"), key("dead")
FAR = 1e9


@pytest.fixture
def versions() -> list[int]:
    return [0] * SLOT_COUNT


@pytest.fixture
def cache(versions: list[int]) -> GroupCache:
    """At generation 10, of which the last 5 are known; its lease ends at 5."""
    cache = GroupCache(100)
    cache.attach(versions)
    poll(cache, 10, since=5, versions_at_poll=tuple(versions))
    return cache


def poll(
    cache: GroupCache,
    generation: int,
    *changed_since: tuple[int, bytes],
    since: int = 5,
    at: float = 0.0,
    store_id: str = "s",
    versions_at_poll: Sequence[int] | None = None,
) -> list[float]:
    """What a poll that was asked at ``at`` brings; gives the ages that took something away."""
    snapshot = cache.begin_poll(at, versions_at_poll)
    changes = tuple(Change(number, handle, age=number / 10) for number, handle in changed_since)
    answer = Changes(store_id, generation, since, changes)
    return [age for ages in cache.apply_changes(snapshot, answer, STALENESS) for age in ages]


def put(cache: GroupCache, group: UserGroup = ACME, generation: int | None = 10, now: float = 0.0) -> bool:
    pending = cache.begin(group.handle, now)
    kept = cache.store(pending, LIVE if group is ACME else key("other"), group, generation, FAR, now)
    cache.end(pending)
    return kept


def usable(cache: GroupCache, now: float = 0.0) -> bool:
    entry = cache.entry(LIVE)
    return entry is not None and entry.is_valid(now)


@pytest.mark.parametrize(("lease_end", "deadline"), [(3.0, FAR), (FAR, 3.0)])
def test_the_rule_of_validity(lease_end: float, deadline: float, versions: list[int]) -> None:
    """An answer is valid until the lease or the deadline ends, and while its slot has the version from before the load.
    Red when is_valid() leaves out one of the three, or uses an answer at the very end."""
    answer = CachedAnswer(PendingLoad(ACME.handle, Lease(versions, lease_end), 7), 10, deadline)
    assert [answer.is_valid(now) for now in (0.0, 2.999, 3.0)] == [True, True, False]
    versions[8] = 2
    assert answer.is_valid(0.0)
    versions[7] = 2
    assert not answer.is_valid(0.0)


def test_an_answer_may_be_used_until_the_lease_ends_and_again_when_it_is_renewed(cache: GroupCache) -> None:
    """So many seconds from the poll. An outage empties nothing: the next poll brings what has changed meanwhile. Red
    when is_valid() does not look at the lease."""
    assert put(cache)
    assert usable(cache, 4.999)
    assert not usable(cache, 5.0)
    poll(cache, 10, at=60.0)
    assert usable(cache, 64.999)
    assert not usable(cache, 65.0)


def test_nothing_is_stored_that_has_ended(cache: GroupCache) -> None:
    """The lease by which it could be used, or its own time. Red when _can_store looks at only one of them."""
    assert not put(cache, now=5.0)
    pending = cache.begin(ACME.handle, 0.0)
    assert not cache.store(pending, LIVE, ACME, 10, 1.0, 1.0)
    assert cache.store(pending, LIVE, ACME, 10, 1.0, 0.999)


def test_a_load_remembers_an_eviction_that_the_list_forgets(cache: GroupCache) -> None:
    """So many messages that the one of this group is not remembered: the load that was under way is.

    Red when _can_store does not look at the floor."""
    pending = cache.begin(ACME.handle, 0.0)
    cache.evict(ACME.handle, 12, 0.0)
    for number in range(MAX_HINTS):
        cache.evict(b"%08d" % number, 12, 0.0)
    assert not cache.store(pending, LIVE, ACME, 11, FAR, 0.0)
    assert cache.store(pending, LIVE, ACME, 12, FAR, 0.0)


def test_without_a_lease_nothing_is_stored(versions: list[int]) -> None:
    """Neither groups nor refusals. Red when _can_store does not look at the lease."""
    cache = GroupCache(10)
    cache.attach(versions)
    pending = cache.begin(ACME.handle, 0.0)
    assert not cache.store(pending, LIVE, ACME, 10, FAR, 0.0)
    assert not cache.refuse(pending, DEAD, 10, FAR, 0.0)


def test_a_poll_evicts_what_is_older_than_the_change_and_nothing_else(cache: GroupCache) -> None:
    """Its age is given. An entry that was read after the change stays. Red when _evict_older compares no
    generations."""
    assert put(cache, generation=10)
    assert put(cache, GLOBEX, generation=12)
    assert poll(cache, 12, (11, ACME.handle), (12, GLOBEX.handle)) == [1.1]
    assert keys(cache) == {key("other")}


def test_what_a_write_on_this_host_has_ended_is_no_staleness(cache: GroupCache, versions: list[int]) -> None:
    """The version had voided the entry already: the poll evicts it and measures nothing."""
    assert put(cache)
    versions[slot_index(ACME.handle)] = 2
    assert poll(cache, 11, (11, ACME.handle)) == []
    assert len(cache) == 0


@pytest.mark.parametrize("version", [2, 3])
def test_a_version_that_changed_voids_entries_refusals_and_loads(
    cache: GroupCache, versions: list[int], version: int
) -> None:
    """Odd or even: the write has begun, or is over. Red when is_valid() does not compare."""
    put(cache)
    pending, late = cache.begin(ACME.handle, 0.0), cache.begin(ACME.handle, 0.0)
    assert cache.refuse(pending, DEAD, 10, FAR, 0.0)
    assert cache.refused(DEAD, ACME.handle, 0.0)
    versions[slot_index(ACME.handle)] = version
    assert not usable(cache)
    assert cache.newest(ACME.handle, 0.0) is None
    assert not cache.refused(DEAD, ACME.handle, 0.0)
    assert not cache.can_join(late, 0.0)
    assert not cache.store(late, LIVE, ACME, 10, FAR, 0.0)


def test_an_odd_version_is_bypassed(cache: GroupCache, versions: list[int]) -> None:
    """What is read while a writer is at it may be from before its commit, or after: it is shared while the very same
    version is there, and never stored."""
    versions[slot_index(ACME.handle)] = 3
    pending = cache.begin(ACME.handle, 0.0)
    assert cache.can_join(pending, 0.0)
    assert not cache.store(pending, LIVE, ACME, 10, FAR, 0.0)


@pytest.mark.parametrize(
    ("generation", "kept"),
    [(None, False), (4, False), (5, False), (7, False), (8, True), (10, True), (11, True)],
)
def test_only_what_the_list_of_changes_clears_is_stored(cache: GroupCache, generation: int | None, kept: bool) -> None:
    """The group was written to in generation 8, and the list begins after 5. Red when _can_store asks no change log."""
    versions = cache.lease.versions
    cache = GroupCache(10)
    cache.attach(versions)
    poll(cache, 10, (8, ACME.handle))
    assert put(cache, generation=generation) is kept
    assert cache.may_use(ACME.handle, generation, 0.0) is kept
    assert cache.may_use(GLOBEX.handle, generation, 0.0) is (generation is not None and generation >= 5)
    assert not cache.may_use(GLOBEX.handle, 10, 5.0)


def test_a_load_that_a_poll_overtook_is_stored_only_if_it_read_after_the_change(cache: GroupCache) -> None:
    """Begun before the poll, answered after it. Red when nothing passes a load."""
    early, late = cache.begin(ACME.handle, 0.0), cache.begin(ACME.handle, 0.0)
    poll(cache, 11, (11, ACME.handle), at=1.0)
    assert not cache.can_join(early, 1.0)
    assert not cache.store(early, LIVE, ACME, 10, FAR, 1.0)
    assert cache.store(late, LIVE, ACME, 11, FAR, 1.0)


def test_an_eviction_by_a_bus_is_remembered_until_the_polls_have_it(cache: GroupCache) -> None:
    """A second-level cache may still give what the bus has called old. A false message is forgotten two polls later.
    Red when evict() does not note it."""
    cache.evict(ACME.handle, 12, 0.0)
    assert not cache.may_use(ACME.handle, 11, 0.0)
    assert cache.may_use(ACME.handle, 12, 0.0)
    poll(cache, 10)
    assert not cache.may_use(ACME.handle, 11, 0.0)
    poll(cache, 10)
    assert cache.may_use(ACME.handle, 11, 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        {"generation": 9},  # restored from a backup
        {"generation": 20, "since": 15},  # trimmed in between
        {"generation": 20, "store_id": "another"},
    ],
)
def test_a_list_that_does_not_follow_flushes(cache: GroupCache, answer: dict[str, int]) -> None:
    """Nobody can know what has changed. Change log and lease begin anew. Red when continues() is always True."""
    assert put(cache)
    poll(cache, at=1.0, **answer)  # type: ignore[arg-type]  # the parametrised answer
    assert not usable(cache, 1.0)
    assert cache.flushes == 1
    assert cache.lease.until == 6.0
    assert cache.change_log.known == answer["generation"]
    assert put(cache, generation=answer["generation"], now=1.0)


def test_a_restored_store_is_noticed_by_what_was_read_of_it(cache: GroupCache) -> None:
    """A group of generation 14 was read, no poll has seen more than 10, and the backup is of 12: it goes back, though
    not for the polls. Red when learn() does not look at the highest: the change in 13 would evict nothing."""
    assert put(cache, generation=14)
    poll(cache, 12, at=1.0)
    assert not usable(cache, 1.0)
    poll(cache, 13, (13, ACME.handle), since=12, at=2.0)
    assert not usable(cache, 2.0)


def test_a_reading_that_overtakes_a_poll_is_no_restored_store(cache: GroupCache) -> None:
    """What is read after the poll was asked may well be newer than its answer."""
    snapshot = cache.begin_poll(1.0, None)
    assert put(cache, generation=14)
    list(cache.apply_changes(snapshot, Changes("s", 12, 10), STALENESS))
    assert usable(cache, 1.0)
    assert cache.flushes == 0


def test_an_answer_to_an_older_question_says_nothing(cache: GroupCache) -> None:
    """Answers may come in any order. Red when learn() does not look at asked_at: it would be taken for a backup."""
    early, late = cache.begin_poll(1.0, None), cache.begin_poll(2.0, None)
    list(cache.apply_changes(late, Changes("s", 20, 10), STALENESS))
    assert put(cache, generation=20)
    list(cache.apply_changes(early, Changes("s", 15, 10), STALENESS))
    assert usable(cache, 6.999)
    assert (cache.change_log.known, cache.lease.until, cache.flushes) == (20, 7.0, 0)


def test_a_long_list_is_learned_in_steps_and_the_lease_comes_last(cache: GroupCache) -> None:
    """10,000 changes; other work may be done between the steps, and half a list gives no lease. Red when learn() renews
    first."""
    assert put(cache)
    changes = tuple(Change(11 + number, number.to_bytes(8, "big")) for number in range(9_999))
    answer = Changes("s", 10_010, 10, (*changes, Change(10_010, ACME.handle)))
    steps = cache.apply_changes(cache.begin_poll(4.0, None), answer, STALENESS)
    for _ in range(10_000 // APPLIED_AT_ONCE - 1):
        next(steps)
    assert (cache.lease.until, cache.change_log.known) == (5.0, 10 + 10_000 - APPLIED_AT_ONCE - 1)
    assert usable(cache, 4.999)
    assert list(steps) == [[0.0]]
    assert (cache.lease.until, cache.change_log.known) == (9.0, 10_010)
    assert not usable(cache, 5.0)


def test_another_object_of_versions_forgets_everything(cache: GroupCache) -> None:
    """Loads under way too: their version was of the old one. No lease until the next poll. Red if attach() keeps it."""
    assert put(cache)
    pending = cache.begin(ACME.handle, 0.0)
    cache.attach([0] * SLOT_COUNT)
    assert not usable(cache)
    poll(cache, 10, at=1.0)
    assert not usable(cache, 1.0)
    assert not cache.store(pending, LIVE, ACME, 10, FAR, 1.0)
    assert put(cache, now=1.0)


def requires_origin(cache: GroupCache, group: UserGroup, now: float) -> bool:
    pending = cache.begin(group.handle, now)
    cache.end(pending)
    return cache.requires_origin(pending, now)


def test_only_the_store_of_record_is_asked_after_a_write_on_this_host(cache: GroupCache, versions: list[int]) -> None:
    """Until a poll that began after it: what a second-level cache holds may be older, and the list not know. Red when
    requires_origin() does not compare with the versions from before the poll."""
    assert not requires_origin(cache, ACME, 4.999)
    assert requires_origin(cache, ACME, 5.0)
    before = tuple(versions)
    versions[slot_index(ACME.handle)] = 2
    assert requires_origin(cache, ACME, 0.0)
    assert not requires_origin(cache, GLOBEX, 0.0)
    poll(cache, 10, versions_at_poll=before)
    assert requires_origin(cache, ACME, 0.0)
    poll(cache, 10, versions_at_poll=tuple(versions))
    assert not requires_origin(cache, ACME, 0.0)
    poll(cache, 10)
    assert requires_origin(cache, GLOBEX, 0.0)


def test_only_the_store_of_record_is_asked_by_a_load_from_before_the_versions_were_others(cache: GroupCache) -> None:
    """Another loop may attach and poll in between. Red when requires_origin() compares with another table."""
    pending = cache.begin(ACME.handle, 0.0)
    cache.attach([0] * SLOT_COUNT)
    poll(cache, 10, versions_at_poll=[0] * SLOT_COUNT)
    assert cache.requires_origin(pending, 0.0)


def test_a_version_that_stays_odd_for_longer_than_x_is_to_be_repaired(cache: GroupCache, versions: list[int]) -> None:
    """Counted from when a request met it. One that changes meanwhile has a live writer. Red when abandoned_writes()
    looks at no time."""
    slot = slot_index(ACME.handle)
    versions[slot] = versions[slot_index(GLOBEX.handle)] = 3
    for group in (ACME, GLOBEX):
        cache.end(cache.begin(group.handle, 1.0))
    assert cache.abandoned_writes(6.0, STALENESS) == []
    versions[slot_index(GLOBEX.handle)] = 5
    assert cache.abandoned_writes(6.001, STALENESS) == [(slot, 3)]
    versions[slot] = 8
    assert cache.abandoned_writes(6.001, STALENESS) == []
    assert cache._in_progress == {}
