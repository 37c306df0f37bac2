"""Lease, Answer, Entry and Fill: what cached answers stand on, what they hold, and a load under way."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tenantry.cache.place import SLOTS
from tenantry.groups import UserGroup

STILL: Sequence[int] = bytes(SLOTS)
"""Words that never change, for a backend whose writers announce nothing."""

UNTOLD = -1
"""The generation of an answer of a backend that has none."""


class Lease:
    """Answers may be used ``until`` then (boot clock), and each while its word among ``words`` stands.

    Every answer holds the lease that it was stored under. A poll renews it for all of them at once; to forget them all
    is to end it for good and begin another, however many they are.
    """

    __slots__ = ("until", "words")

    def __init__(self, words: Sequence[int], until: float = -inf) -> None:
        self.words = words
        self.until = until


class Fill:
    """A load under way: the word that stood when it began. ``floor`` is the generation that an eviction has named."""

    __slots__ = ("floor", "handle", "lease", "place", "word")

    def __init__(self, handle: bytes, lease: Lease, place: int) -> None:
        self.handle = handle
        self.lease = lease
        self.place = place
        self.word = lease.words[place]
        self.floor = UNTOLD

    def stands(self) -> bool:
        """True while no write on this host has begun or ended since, and nothing was evicted."""
        return self.floor == UNTOLD and self.lease.words[self.place] == self.word


class Answer:
    """What the store said in ``generation``: good under ``lease``, before ``deadline``, while its word stands."""

    __slots__ = ("deadline", "generation", "lease", "place", "word")

    def __init__(self, fill: Fill, generation: int, deadline: float) -> None:
        self.lease = fill.lease
        self.place = fill.place
        self.word = fill.word
        self.generation = generation
        self.deadline = deadline

    def alive(self, now: float) -> bool:
        """True if it may be used now. The same test stands in Resolver.peek, without a call."""
        lease = self.lease
        return now < lease.until and now < self.deadline and lease.words[self.place] == self.word


class Entry(Answer):
    """The group of a token. ``seen`` is the second-chance bit, ``seat`` where the entry sits in the ring."""

    __slots__ = ("group", "key", "seat", "seen")

    def __init__(self, fill: Fill, generation: int, deadline: float, key: bytes, group: UserGroup, seat: int) -> None:
        super().__init__(fill, generation, deadline)
        self.key = key
        self.group = group
        self.seat = seat
        self.seen = False
