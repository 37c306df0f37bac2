"""Postings: in which parts of the site a word is, how much it counts there, and under which heading, as short text.

Each posting is one character for weight and section, and one or more for the distance to the part before. The
characters are those of ASCII that can be seen; ``static/search.js`` reads them.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from collections.abc import Iterable
from itertools import pairwise

LEVELS = (0.6, 1.1, 1.7, 2.6, 4.2, 7.0)
"""What a word counts in a part, on a coarse scale."""
SECTIONS = 15
"""Sections that one part may have: with the levels, as many as one character tells apart."""

_BOUNDS = tuple((low + high) / 2 for low, high in pairwise(LEVELS))
_FIRST = 0x21
_LAST_DIGITS = 60
_MORE_DIGITS = 34
_CHARACTERS = [chr(_FIRST + value) for value in range(_LAST_DIGITS + _MORE_DIGITS)]
CODES = len(LEVELS) * SECTIONS


def posting_code(weight: float, section: int) -> int:
    """Weight and section in one number below ``CODES``."""
    return bisect(_BOUNDS, weight) * SECTIONS + section


def level(code: int) -> int:
    """The weight's index on the scale."""
    return code // SECTIONS


def gap_code(number: int) -> str:
    """A number from 0 on: the digits of base 34 that are not the last have characters of their own."""
    text = ""
    while number >= _LAST_DIGITS:
        number, digit = divmod(number - _LAST_DIGITS, _MORE_DIGITS)
        text += _CHARACTERS[_LAST_DIGITS + digit]
    return text + _CHARACTERS[number]


_GAP_CODES = [gap_code(number) for number in range(1024)]


def pack(postings: Iterable[int]) -> str:
    """Postings, each ``part * CODES + code``, in the order of their parts."""
    pieces: list[str] = []
    before = -1
    for posting in postings:
        part, code = divmod(posting, CODES)
        gap = part - before - 1
        pieces.append(_CHARACTERS[code])
        pieces.append(_GAP_CODES[gap] if gap < 1024 else gap_code(gap))
        before = part
    return "".join(pieces)


def unpack(text: str) -> array[int]:
    """The postings again; for tests, and the rule for the script to follow."""
    found: array[int] = array("L")
    part, at = -1, 0
    while at < len(text):
        code = ord(text[at]) - _FIRST
        at += 1
        gap, factor, step = 0, 1, 0
        while (step := ord(text[at]) - _FIRST) >= _LAST_DIGITS:
            gap += step * factor
            factor *= _MORE_DIGITS
            at += 1
        gap += step * factor
        at += 1
        part += gap + 1
        found.append(part * CODES + code)
    return found
