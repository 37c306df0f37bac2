"""Check: one figure of the scorecard, its target, and how it is measured."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How much work a run may be: the full one (tens of minutes) or the quick one; and the seed of its dice."""

    full: bool
    seed: int

    def pick(self, quick: int, full: int) -> int:
        """A number by the depth of the run."""
        return full if self.full else quick

    def dice(self) -> random.Random:
        """Chance that can be had again."""
        return random.Random(self.seed)

    def say(self, words: str) -> None:
        """Progress, on stderr."""
        print(f"    {words}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Measured:
    """What came out: in words, whether it meets the target as stated, and the bare numbers.

    ``rescaled``: where the target is a speed, what it would be on a machine as slow as this one, and whether that is
    reached. It explains a miss and never turns it into "met".
    """

    figure: str
    ok: bool
    numbers: Mapping[str, Any] = field(default_factory=dict)
    rescaled: str = ""


@dataclass(frozen=True)
class Check:
    """``seconds`` is the time limit of a quick and of a full run: a row that takes longer has failed."""

    id: str
    name: str
    target: str
    measure: Callable[[Effort], Measured]
    seconds: tuple[int, int]


@dataclass(frozen=True)
class Result:
    """A row that was run. ``run`` is ``quick`` or ``full``, ``took`` is in seconds."""

    id: str
    name: str
    target: str
    figure: str
    ok: bool
    took: float
    seed: int
    numbers: Mapping[str, Any] = field(default_factory=dict)
    rescaled: str = ""
    run: str = ""
    date: str = ""
    commit: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def number(row: str) -> tuple[int, str]:
    """What rows are sorted by: ``S2`` comes before ``S2p``, and both before ``S10``."""
    return int(row[1:].rstrip("p")), row


def spread(seconds: list[float]) -> str:
    """Three figures in the unit that reads best: the middle, the 99th in a hundred, and the worst."""
    return f"p50 {_time(quantile(seconds, 0.5))}, p99 {_time(quantile(seconds, 0.99))}, max {_time(max(seconds))}"


def quantile(values: list[float], part: float) -> float:
    """The value that this part of all are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"
