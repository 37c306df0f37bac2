"""The words themselves: what a writer leaves, and what may be mended."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tenantry import ports
from tenantry.cache import SLOTS, place_of
from tenantry.slots import PrivateSlots, Slots

HANDLE = bytes.fromhex("0102030405060708")
PLACE = place_of(HANDLE)

Made = Slots | PrivateSlots


@pytest.fixture(params=["shared", "private"])
def slots(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    makers: dict[str, Callable[[], Made]] = {
        "shared": lambda: Slots.open("store-1", tmp_path / "run"),
        "private": PrivateSlots,
    }
    return makers[request.param]()


def test_a_new_table_is_even_everywhere(slots: Made) -> None:
    face: ports.Slots = slots
    assert len(face.words) == SLOTS
    assert set(face.words) == {0}
    assert slots.is_current()
    assert slots.renewed() is slots


def test_odd_while_a_write_is_under_way_even_after_it(slots: Made) -> None:
    with slots.writing(HANDLE):
        during = slots.words[PLACE]
        assert during & 1
    after = slots.words[PLACE]
    assert not after & 1
    assert after not in {0, during}
    assert [place for place in range(SLOTS) if slots.words[place]] == [PLACE]


def test_even_after_a_write_that_failed(slots: Made) -> None:
    """Red when the word after is stored only on success: the place would bypass the cache for X."""
    with pytest.raises(RuntimeError), slots.writing(HANDLE):
        raise RuntimeError
    assert slots.words[PLACE]
    assert not slots.words[PLACE] & 1


def test_no_word_comes_twice_or_from_the_one_before(slots: Made) -> None:
    """Red when a writer increments: two who read the same word leave the same word."""
    seen: list[int] = []
    for _ in range(2_000):
        with slots.writing(HANDLE), slots.writing(HANDLE):
            seen.append(slots.words[PLACE])
        seen.append(slots.words[PLACE])
        slots.touch(HANDLE)
        seen.append(slots.words[PLACE])
    assert len(set(seen)) == len(seen)
    assert 0 not in seen
    assert all(abs(word - before) > 1 << 20 for before, word in pairwise(seen))


def test_a_copy_stays_as_it_was(slots: Made) -> None:
    slots.touch(HANDLE)
    copy = slots.copy()
    kept = copy[PLACE]
    slots.touch(HANDLE)
    assert copy[PLACE] == kept != slots.words[PLACE]


def test_only_the_odd_word_that_was_seen_is_mended(slots: Made) -> None:
    """Red when ``mend`` stores unasked: a mend that comes late would be one more void answer, for ever."""
    with slots.writing(HANDLE):
        seen = slots.words[PLACE]
        slots.mend(PLACE, seen ^ 2)
        assert slots.words[PLACE] == seen
        slots.mend(PLACE, seen)
        mended = slots.words[PLACE]
        assert mended != seen
        assert not mended & 1
    after = slots.words[PLACE]
    assert after != mended  # a writer that was only slow still voids what was kept meanwhile
    slots.mend(PLACE, after)
    assert slots.words[PLACE] == after


def test_every_word_is_aligned(slots: Made) -> None:
    """Red when the header is not a multiple of a word: a store could then be seen half done."""
    live: Any = slots.words
    assert ctypes.addressof(ctypes.c_char.from_buffer(live)) % 8 == 0
