"""The versions themselves: what a writer leaves, and what may be repaired."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tenantry import ports
from tenantry.cache import SLOT_COUNT, slot_index
from tenantry.cache.slots import PrivateSlots, SharedSlots

HANDLE = bytes.fromhex("0102030405060708")
SLOT = slot_index(HANDLE)

Made = SharedSlots | PrivateSlots


@pytest.fixture(params=["shared", "private"])
def slots(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    makers: dict[str, Callable[[], Made]] = {
        "shared": lambda: SharedSlots.open("store-1", tmp_path / "run"),
        "private": PrivateSlots,
    }
    return makers[request.param]()


def test_a_new_table_is_even_everywhere(slots: Made) -> None:
    face: ports.Slots = slots
    assert len(face.versions) == SLOT_COUNT
    assert set(face.versions) == {0}
    assert slots.is_current()
    assert slots.renewed() is slots


def test_odd_while_a_write_is_under_way_even_after_it(slots: Made) -> None:
    with slots.writing(HANDLE):
        during = slots.versions[SLOT]
        assert during & 1
    after = slots.versions[SLOT]
    assert not after & 1
    assert after not in {0, during}
    assert [slot for slot in range(SLOT_COUNT) if slots.versions[slot]] == [SLOT]


def test_even_after_a_write_that_failed(slots: Made) -> None:
    """Red when the version after is stored only on success: the slot would bypass the cache for the staleness bound."""
    with pytest.raises(RuntimeError), slots.writing(HANDLE):
        raise RuntimeError
    assert slots.versions[SLOT]
    assert not slots.versions[SLOT] & 1


def test_each_of_two_overlapping_writes_ends_what_was_cached_before(slots: Made) -> None:
    """Also what a reader caches after the first has ended, when the version is even already. Red when a writer leaves
    an even version as it is."""
    with ExitStack() as second:
        with slots.writing(HANDLE):
            second.enter_context(slots.writing(HANDLE))
        between = slots.versions[SLOT]
        assert not between & 1
    assert slots.versions[SLOT] != between


def test_no_version_comes_twice_or_from_the_one_before(slots: Made) -> None:
    """Red when a writer increments: two who read the same version leave the same version."""
    seen: list[int] = []
    for _ in range(2_000):
        with slots.writing(HANDLE), slots.writing(HANDLE):
            seen.append(slots.versions[SLOT])
        seen.append(slots.versions[SLOT])
        slots.touch(HANDLE)
        seen.append(slots.versions[SLOT])
    assert len(set(seen)) == len(seen)
    assert 0 not in seen
    assert all(abs(version - before) > 1 << 20 for before, version in pairwise(seen))


def test_a_copy_stays_as_it_was(slots: Made) -> None:
    slots.touch(HANDLE)
    copy = slots.copy()
    kept = copy[SLOT]
    slots.touch(HANDLE)
    assert copy[SLOT] == kept != slots.versions[SLOT]


def test_only_the_odd_version_that_was_seen_is_repaired(slots: Made) -> None:
    """Red when ``repair`` stores unasked: a repair that comes late would be one more void answer, for ever."""
    with slots.writing(HANDLE):
        seen = slots.versions[SLOT]
        slots.repair(SLOT, seen ^ 2)
        assert slots.versions[SLOT] == seen
        slots.repair(SLOT, seen)
        repaired = slots.versions[SLOT]
        assert repaired != seen
        assert not repaired & 1
    after = slots.versions[SLOT]
    assert after != repaired  # a writer that was only slow still voids what was kept meanwhile
    slots.repair(SLOT, after)
    assert slots.versions[SLOT] == after


def test_every_version_is_aligned(slots: Made) -> None:
    """Red when the header is not a multiple of a version: a store could then be seen half done."""
    live: Any = slots.versions
    assert ctypes.addressof(ctypes.c_char.from_buffer(live)) % 8 == 0
