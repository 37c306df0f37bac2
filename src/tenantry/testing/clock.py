"""FrozenClock: a time of day that stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(2026, 1, 1, tzinfo=UTC)


class FrozenClock:
    """A ``tenantry.ports.Clock``: calling it gives an aware datetime in UTC. Its ``monotonic`` is a MonotonicClock."""

    def __init__(self, start: datetime = _START) -> None:
        self._start = start
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return (self._now - self._start).total_seconds()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
