"""Caches that lack one defence each: the controls of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from tenantry.cache import Fill, GroupCache, Question
from tenantry.groups import Changes


class NoLease(GroupCache):
    """Follows the changes, but uses its answers whether or not the store has told of any lately."""

    def learn(self, question: Question, changes: Changes, staleness: float) -> Iterator[list[float]]:
        yield from super().learn(question, changes, inf)


class NoFillGuard(GroupCache):
    """Keeps whatever comes, however much has passed it."""

    def _keeps(self, fill: Fill, generation: int | None, deadline: float, now: float) -> bool:
        fill.lease = self.lease
        fill.word = self.lease.words[fill.place]
        return now < self.lease.until


class NoSlotCompare(GroupCache):
    """Does not look at what the writers of its host say."""

    def attach(self, words: Sequence[int]) -> None:
        super().attach(bytes(len(words)))


class NoHistory(GroupCache):
    """Believes a second-level cache, whatever has been written since."""

    def believes(self, handle: bytes, generation: int | None, now: float) -> bool:
        return now < self.lease.until


class NoQuiet(GroupCache):
    """Asks a second-level cache although a write on this host may have come since the last poll began."""

    def unsure(self, fill: Fill, now: float) -> bool:
        return now >= self.lease.until


class NoLeaseForSharing(GroupCache):
    """Lets who comes share any load that no word speaks against, though it may not know the right words."""

    def stands(self, fill: Fill, now: float) -> bool:
        return fill.lease is self.lease and fill.stands()
