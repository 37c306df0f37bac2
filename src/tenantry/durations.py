from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

BOUNDS: Final = (
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0,
    2.5, 5.0,
)  # fmt: skip
"""Upper bounds, in seconds, of the histogram buckets for store reads."""

QUERY_BOUNDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
)  # fmt: skip
"""Upper bounds, in seconds, of the histogram buckets for queries."""


class Buckets:
    """A histogram of durations. ``bounds``: ascending upper bounds in seconds."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float] = BOUNDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total: float = 0.0
        """Sum of the durations, in seconds."""

    @property
    def count(self) -> int:
        return sum(self._counts)

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.total += seconds

    def cumulated(self) -> list[tuple[str, float]]:
        sums: list[tuple[str, float]] = []
        so_far = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            so_far += count
            sums.append((bound, so_far))
        return sums
