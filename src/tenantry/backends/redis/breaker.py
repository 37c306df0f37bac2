"""Breaker: leaves a server alone that does not answer. Pure: clock and chance are arguments."""

from __future__ import annotations

from collections.abc import Callable

from tenantry.backoff import Backoff

FAILURES = 5
"""So many in a row open it."""

SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 10.0
"""A pause is twice the one before it, within these, and half as long again by chance."""


class Breaker:
    """Closed: everybody may ask. Open: nobody, until the pause is over; then one may, and its outcome decides."""

    def __init__(self, *, clock: Callable[[], float], chance: Callable[[], float]) -> None:
        self._clock = clock
        self._chance = chance
        self._failures = 0
        self._backoff = Backoff(SHORTEST_SECONDS, LONGEST_SECONDS)
        self._pause = 0.0
        self._until: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        return self._until is not None

    def allows(self) -> bool:
        """Whether to ask now. Whoever is allowed calls ``succeeded`` or ``failed`` afterwards."""
        if self._until is None:
            return True
        now = self._clock()
        if now < self._until:
            return False
        self._until = now + self._pause  # one probe; should its outcome be lost, there is another
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """True if this ends an outage."""
        ended = self._until is not None
        self._failures, self._until, self._probing = 0, None, False
        self._backoff.reset()
        return ended

    def failed(self) -> bool:
        """True if this begins an outage."""
        self._failures += 1
        begins = self._until is None
        if begins and self._failures < FAILURES:
            return False
        if begins or self._probing:
            self._pause = self._backoff.next()
            self._until = self._clock() + self._pause * (1 + self._chance() / 2)
        self._probing = False
        return begins
