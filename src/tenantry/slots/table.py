"""Table: what a writer does to the words, wherever they are kept."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tenantry.cache import SLOTS, place_of

WORD: Final = 8
"""Bytes of a word."""

TABLE: Final = SLOTS * WORD
"""Bytes of all words."""


def fresh_even() -> int:
    """An even word that was never seen before: 63 random bits. Not 0, which is what new tables hold."""
    return secrets.randbits(63) << 1 or fresh_even()


def fresh_odd() -> int:
    """The same, odd."""
    return secrets.randbits(63) << 1 | 1


class Table:
    """The words in a buffer of TABLE bytes.

    All words of a new table are 0: even, and alike for all, which does no harm, since a place never holds 0 again.
    """

    __slots__ = ("__weakref__", "_words")

    def __init__(self, words: memoryview[int]) -> None:
        self._words = words

    @property
    def words(self) -> memoryview[int]:
        """Live: each look reads the word as it is now. May be held on to; it outlives ``close``."""
        return self._words

    def copy(self) -> memoryview[int]:
        """All words as they are now; they stay so."""
        return memoryview(self._words.tobytes()).cast("Q")

    def mend(self, place: int, word: int) -> None:
        """Puts a fresh even word at a place if ``word``, odd, stands there still: its writer has crashed.

        A writer that is only slow loses nothing: it stores its own fresh even word after its commit all the same.
        """
        words = self._words
        if word & 1 and words[place] == word and not words.readonly:
            words[place] = fresh_even()

    def touch(self, handle: bytes) -> None:
        """Voids whatever is kept of the groups at this handle's place."""
        self._written()[place_of(handle)] = fresh_even()

    @contextmanager
    def writing(self, handle: bytes) -> Iterator[None]:
        """Around a write to a group, its commit included: odd before, even after, whatever happened."""
        words, place = self._written(), place_of(handle)
        words[place] = fresh_odd()
        try:
            yield
        finally:
            words[place] = fresh_even()

    def _written(self) -> memoryview[int]:
        """The words, for a writer: it must not be told that all is well by a table that nobody else sees."""
        return self._words
