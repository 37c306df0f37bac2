"""Postings, packed and read again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenantry_site.outputs.search_page import CODES, LEVELS, SECTIONS, level, pack, posting_code, unpack

POSTINGS = st.dictionaries(st.integers(0, 100_000), st.integers(0, CODES - 1), max_size=60).map(
    lambda found: sorted(part * CODES + posting_code for part, posting_code in found.items())
)


@given(POSTINGS)
def test_what_is_packed_can_be_read(postings: list[int]) -> None:
    """Red when a distance above one character is written wrongly."""
    packed = pack(postings)
    assert list(unpack(packed)) == postings
    assert packed.isascii()
    assert not any(letter.isspace() for letter in packed)


def test_a_posting_in_a_neighbour_takes_two_characters() -> None:
    """Red when the format grows."""
    assert len(pack(part * CODES for part in range(100))) == 200


def test_the_scale_goes_up() -> None:
    levels = [level(posting_code(weight, 3)) for weight in (0, 0.8, 0.9, 2, 3, 5, 100)]
    assert levels == sorted(levels)
    assert levels[0] == 0
    assert levels[-1] == len(LEVELS) - 1
    assert posting_code(100, SECTIONS - 1) < CODES
