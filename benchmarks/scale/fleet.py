"""A fleet on paper: what its workers ask of the store and hear from the bus, as numbers that can be checked by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """From ``start`` to ``end``, in seconds of the run."""

    start: float
    end: float

    def holds(self, moment: float) -> bool:
        """Whether a moment is in it."""
        return self.start <= moment < self.end


NEVER = Window(0.0, 0.0)


@dataclass(frozen=True)
class Fleet:
    """Workers, what is written, and what goes wrong; times in seconds, rates a second, shares from 0 to 1."""

    workers: int = 1_000
    staleness: float = 5.0
    """X: a worker answers from its cache for so long after it asked for changes."""
    polls: int = 5
    """In each X, at least."""
    writes: float = 50.0
    """Rotations, updates and deletions of the whole fleet."""
    held: float = 0.05
    """The share of the workers that have the group in their cache when it is written to."""
    tokens: int = 10_000
    """That a worker has in use."""
    requests: float = 200.0
    """Of each worker."""
    message: float = 0.002
    """The mean time of a bus message; the times are exponential."""
    lost: float = 0.001
    """The share of bus messages that never come."""
    poll: float = 0.004
    """The mean time of a poll, to the store and back."""
    patience: float = 1.8
    """A poll that takes longer is given up."""
    bus_down: Window = NEVER
    cut_off: Window = NEVER
    """``cut_share`` of the workers reach neither the store nor the bus, while the others go on writing."""
    cut_share: float = 0.2
    notice: float = 0.1
    """The workers notice within so long that the bus is gone, and flush: at once if it closes its connections, within
    3 s if it only falls silent."""
    reconnect: float = 5.0
    """They come back within so long of its return, each at a moment of its own, and flush again."""
    seconds: float = 60.0

    @property
    def interval(self) -> float:
        """From the end of a poll to the next of the same worker, at most; at least 0.8 of it, so that they scatter."""
        return self.staleness / self.polls

    @property
    def polls_a_second(self) -> float:
        """While polls are quick: one in 0.9 of the interval and its own time."""
        return self.workers / (0.9 * self.interval + self.poll)

    @property
    def rows_a_second(self) -> float:
        """Changes that polls carry: each worker is told of each write once."""
        return self.workers * self.writes

    @property
    def messages_a_second(self) -> float:
        """That the bus delivers: each worker hears of each write."""
        return self.workers * self.writes

    @property
    def reads_a_second(self) -> float:
        """Of groups that were written to, by the workers that had them."""
        return self.workers * self.writes * self.held

    def refill(self, start: float, end: float) -> float:
        """Reads of the store by one worker from ``start`` to ``end`` seconds after it forgot everything.

        Each request is for one of its ``tokens``, all alike: the worst case, for real traffic asks for a few of them
        most of the time and has those back at once.
        """
        pace = self.requests / self.tokens
        return self.tokens * (math.exp(-pace * start) - math.exp(-pace * end))
