"""Distance: how far one spelling is from another, and which of several is nearest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import commonprefix

_JOINTS = re.compile(r"[-_\s]+")
LONGEST = 100
"""Spellings that are longer are not compared: they are no slips of the finger."""


def squash(text: str) -> str:
    """The spelling without capitals, ``-``, ``_`` and blanks."""
    return _JOINTS.sub("", text).lower()


def distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours from one to the other; ``most + 1`` if more."""
    if abs(len(one) - len(other)) > most or len(one) > LONGEST:
        return most + 1
    shared = len(commonprefix((one, other)))
    one, other = one[shared:], other[shared:]
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1] if one else len(other)


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant: at most two slips away and at most a third of its length. Capitals and
    joints are no slips."""
    plain = squash(word)
    best: tuple[int, str] | None = None
    for candidate in candidates:
        most = min(2, len(candidate) // 3)
        steps = distance(plain, squash(candidate), most)
        if steps <= most and (best is None or steps < best[0]):
            best = (steps, candidate)
    return best[1] if best else None
