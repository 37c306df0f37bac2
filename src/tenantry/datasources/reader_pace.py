"""ReaderPace: whether the reader of a stream is too slow. Pure: the time is passed in."""

from __future__ import annotations

from collections import deque
from typing import Final

SLOWEST: Final = 65_536
"""Bytes that a reader takes at least in each ``WINDOW``, while rows wait for it."""
WINDOW: Final = 60.0
"""Seconds."""


class ReaderPace:
    """What a reader took while something waited for it. The time in which nothing does is not the reader's."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._taken: deque[tuple[float, int]] = deque()  # when, and how many bytes
        self._size = 0

    def take(self, seconds: float, size: int) -> None:
        """It took so many bytes, which had waited for it for so long."""
        self._waited += seconds
        self._size += size
        if self._taken and self._waited - self._taken[-1][0] < WINDOW / 100:
            self._taken[-1] = self._taken[-1][0], self._taken[-1][1] + size
        else:
            self._taken.append((self._waited, size))

    def is_slow(self, seconds: float) -> bool:
        """Whether it took too little in the last ``WINDOW``, when the next bytes have waited for so long."""
        now = self._waited + seconds
        while self._taken and now - self._taken[0][0] >= WINDOW:
            self._size -= self._taken.popleft()[1]
        return now >= WINDOW and self._size < SLOWEST
