"""Question: what was known when a poll began. What it brings is read against that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """``asked_at`` (boot clock) is when the store was asked; ``quiet`` are all words as they were just before, None if
    they were not known; ``highest`` is the highest generation of any answer kept by then."""

    asked_at: float
    quiet: Sequence[int] | None
    highest: int
