"""The breaker, by its rules, on a clock of the test's own."""

from __future__ import annotations

import asyncio

import pytest

from tenantry.aio import backoff
from tenantry.aio.backoff import FAILURES, LONGEST_SECONDS, SHORTEST_SECONDS, Breaker


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def breaker(time: Time) -> Breaker:
    return Breaker(clock=time, chance=lambda: 0.0)


def _open(breaker: Breaker) -> None:
    for _ in range(FAILURES):
        assert breaker.allows()
        breaker.failed()


def test_failures_in_a_row_open_it(breaker: Breaker) -> None:
    """A success between them begins the count anew. The failure that opens it, and no other, begins an outage."""
    for _ in range(3):
        assert not any(breaker.failed() for _ in range(FAILURES - 1))
        assert not breaker.succeeded()
    assert [breaker.failed() for _ in range(FAILURES)] == [False] * (FAILURES - 1) + [True]
    assert not breaker.failed()
    assert not breaker.allows()


def test_one_probe_after_the_pause(breaker: Breaker, time: Time) -> None:
    """After the pause one may ask; its success closes the breaker and ends the outage."""
    _open(breaker)
    time.now += SHORTEST_SECONDS * 0.99
    assert not breaker.allows()
    time.now += SHORTEST_SECONDS
    assert [breaker.allows() for _ in range(3)] == [True, False, False]
    assert breaker.succeeded()
    assert all(breaker.allows() for _ in range(3))
    assert not breaker.is_open


def test_each_failed_probe_doubles_the_pause(breaker: Breaker, time: Time) -> None:
    """Up to a limit. A late failure of those who asked before the breaker opened lengthens nothing."""
    _open(breaker)
    pauses = []
    for _ in range(8):
        breaker.failed()  # late
        start = time.now
        while not breaker.allows():
            time.now += SHORTEST_SECONDS / 8
        pauses.append(time.now - start)
        breaker.failed()
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, LONGEST_SECONDS, LONGEST_SECONDS, LONGEST_SECONDS]


def test_a_probe_without_an_outcome_is_followed_by_another(breaker: Breaker, time: Time) -> None:
    """Red when the breaker waits for the fate of its probe: an event loop that ended with it kept the cache shut."""
    _open(breaker)
    time.now += 60
    assert breaker.allows()
    assert not breaker.allows()
    time.now += 60
    assert breaker.allows()


def test_chance_lengthens_the_pause(time: Time) -> None:
    """By half at most, so that a fleet does not probe at once."""
    breaker = Breaker(clock=time, chance=lambda: 0.999)
    _open(breaker)
    time.now += SHORTEST_SECONDS * 1.4
    assert not breaker.allows()
    time.now += SHORTEST_SECONDS * 0.2
    assert breaker.allows()


async def test_chance_spreads_reconnections(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet that lost its server does not come back at once. Red when each pause is the same."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def connect() -> None:
        if len(pauses) == 300:
            raise asyncio.CancelledError

    monkeypatch.setattr(backoff.asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await backoff.reconnect_forever(connect, lambda error: True, shortest=2.0, longest=8.0)
    assert 1.0 <= min(pauses) < 1.5 < 2.5 < max(pauses) <= 3.0
