"""Probe: how long the event loop of this process is kept from its next turn, by work of its own.

A turn is measured by this thread's processor time, so that a machine which gives its cores to other programs is not
taken for a stall. Python's own garbage collections are told apart: they grow with the number of objects that live, and
``gc.freeze()`` takes those that stay out of them.

Interrupts and page faults are booked on whoever runs when they come, so single turns are long in a loop that does
nothing, too. Work is long each time that it is done: the long turns are noted with the position of the work in them,
and what several runs agree on is the work's (``recurring``).
"""

from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass
class Gaps:
    """What was seen of one phase, in milliseconds. ``own`` is the longest turn without its garbage collections."""

    turns: int = 0
    whole: float = 0.0
    own: float = 0.0
    collection: float = 0.0
    over: int = 0
    """Turns of more than a millisecond without their garbage collections."""
    long: dict[int, float] = field(default_factory=dict)
    """By the position of the work: its longest turn, where that is longer than ``NOTED``."""


NOTED = 0.2
"""Milliseconds."""


def recurring(runs: list[dict[int, float]]) -> float:
    """The longest turn, in milliseconds, that every run had at the same position, give or take one."""
    first, *others = runs
    return max((min(ms, *(_near(other, position) for other in others)) for position, ms in first.items()), default=0.0)


def _near(long: dict[int, float], position: int) -> float:
    return max(long.get(position + step, 0.0) for step in (-1, 0, 1))


@dataclass
class LagProbe:
    """``with Probe() as gaps``: looks at every turn of the running loop until the block ends."""

    gaps: Gaps = field(default_factory=Gaps)
    position: int = 0
    """To be set by the work that is done in steps: the number of the step."""
    _last: int = 0
    _collected: int = 0
    _began: int = 0
    _handle: asyncio.Handle | None = None

    def __enter__(self) -> Self:
        gc.callbacks.append(self._collection)
        self._last = time.thread_time_ns()
        self._handle = asyncio.get_running_loop().call_soon(self._turn)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.callbacks.remove(self._collection)
        if self._handle is not None:
            self._handle.cancel()
        self._note()

    def _turn(self) -> None:
        self._note()
        self._handle = asyncio.get_running_loop().call_soon(self._turn)

    def _note(self) -> None:
        now = time.thread_time_ns()
        whole, own = (now - self._last) / 1e6, (now - self._last - self._collected) / 1e6
        self._last, self._collected = now, 0
        self.gaps.turns += 1
        self.gaps.whole = max(self.gaps.whole, whole)
        self.gaps.own = max(self.gaps.own, own)
        self.gaps.over += own > 1
        if own > NOTED:
            self.gaps.long[self.position] = max(own, self.gaps.long.get(self.position, 0.0))

    def _collection(self, phase: str, info: dict[str, Any]) -> None:
        now = time.thread_time_ns()
        if phase == "start":
            self._began = now
        else:
            self._collected += now - self._began
            self.gaps.collection = max(self.gaps.collection, (now - self._began) / 1e6)
