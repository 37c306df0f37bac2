"""GroupCache against a model that forgets nothing but what it must: whatever the cache shows, the model knows."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tenantry.cache import Fill, GroupCache
from tenantry.testing import make_group

HANDLES = st.integers(0, 4)
SEATS = st.integers(0, 1)


class CacheMachine(RuleBasedStateMachine):
    """The truth is one revision per group. A hit may be older only within the lifetime, and never across a write that
    the cache was told of."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = GroupCache(4, unknown_capacity=2)
        self.now = 0.0
        self.revision = dict.fromkeys(range(5), 1)
        self.loads: list[tuple[Fill, bytes, int, int]] = []
        self.writing: list[int] = []
        self.floor = dict.fromkeys(range(5), 0)  # the oldest revision that may still be shown

    @rule(number=HANDLES, seat=SEATS)
    def begin(self, number: int, seat: int) -> None:
        fill = self.cache.begin(bytes([number]) * 8)
        self.loads.append((fill, b"%d-%d" % (number, seat), number, self.revision[number]))

    @rule(place=st.integers(0, 9), found=st.booleans())
    def end(self, place: int, found: bool) -> None:
        if not self.loads:
            return
        fill, key, number, revision = self.loads.pop(place % len(self.loads))
        if found:
            group = make_group(handle=bytes([number]) * 8, revision=revision)
            self.cache.store(fill, key, group, self.now + 1.0, self.now)
        else:
            self.cache.refuse(fill, key, self.now + 1.0)
        self.cache.end(fill)

    @rule(number=HANDLES)
    def changing(self, number: int) -> None:
        self.cache.changing(bytes([number]) * 8)
        self.writing.append(number)

    @rule(place=st.integers(0, 9), commits=st.booleans())
    def changed(self, place: int, commits: bool) -> None:
        if not self.writing:
            return
        number = self.writing.pop(place % len(self.writing))
        self.revision[number] += commits
        self.cache.changed(bytes([number]) * 8)
        self.floor[number] = self.revision[number]

    @rule(number=HANDLES, seat=SEATS)
    def hit(self, number: int, seat: int) -> None:
        entry = self.cache.entries.get(b"%d-%d" % (number, seat))
        if entry is not None:
            entry.seen = True

    @rule(seconds=st.sampled_from([0.3, 0.7, 1.5]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def shows_only_what_is_true(self) -> None:
        for key, entry in self.cache.entries.items():
            number = int(key[:1])
            assert entry.key == key
            assert entry.group.handle == bytes([number]) * 8
            assert self.floor[number] <= entry.group.revision <= self.revision[number]
            assert entry.deadline <= self.now + 1.0
            assert number not in self.writing

    @invariant()
    def keeps_its_books(self) -> None:
        cache = self.cache
        live = [entry for entry in cache._slots if entry is not None]
        assert len(live) == len(cache.entries) <= 4
        assert {id(entry) for entry in live} == {id(entry) for entry in cache.entries.values()}
        assert sorted(cache._free) == [place for place, entry in enumerate(cache._slots) if entry is None]
        assert sum(map(len, cache._by_handle.values())) == len(cache.entries)
        assert sum(map(len, cache._fills.values())) == len(self.loads)
        assert sum(cache._writing.values()) == len(self.writing)


TestCacheModel = CacheMachine.TestCase
TestCacheModel.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
